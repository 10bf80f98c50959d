package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implementFloat32[ir.AttentionGradient](newAttentionGradient)

// attentionGradient recomputes each block of scores and adds its part to the gradients of
// queries, keys and values.
type attentionGradient struct {
	heads
	step        ir.Step
	pitch, from [3]int // of the gradients of queries, keys and values
	out, sums   []float32
	dy          []float32
	slope       headed // dy, by heads
	all         []float32
}

func newAttentionGradient(d *Device, s ir.Step) (step, error) {
	k := &attentionGradient{heads: newHeads(d, s.Op.(ir.AttentionGradient).Attention, s, 5), step: s}
	h := k.q.Shape[1]
	k.slope.Operand = ir.Operand{Slot: s.In[4].Slot, DType: s.In[4].DType, Layout: ir.Layout{Shape: []int{k.q.Shape[0], h, k.t, k.e}, Stride: []int{k.t * h * k.e, k.e, h * k.e, 1}}}
	k.pitch, k.from = s.Op.(ir.AttentionGradient).Rows(k.q.Shape, k.v.Shape)
	d.reserve(0, k.panel+k.keys+k.values+2*k.scores+maxTile+k.t)
	return k, nil
}

func (k *attentionGradient) run(p *program) error {
	k.bind(p, k.step.In[5:])
	k.all = elements[float32](p, k.step.Out[0])
	n := k.count * k.t * k.e
	saved := elements[float32](p, k.step.In[3])
	k.out, k.sums, k.dy = saved[:n], saved[n:], elements[float32](p, k.step.In[4])[:n]
	k.slope.data = k.dy
	if k.t > 0 {
		p.device.pool.run(k.count, k)
	} else {
		clear(k.all)
	}
	k.release()
	k.out, k.sums, k.dy, k.slope.data, k.all = nil, nil, nil, nil, nil
	return nil
}

func (k *attentionGradient) work(head, worker int) {
	parts := k.workspace(worker, k.panel, k.keys, k.values, k.scores, k.scores, maxTile, k.t)
	vec := k.device.vectors
	space, keys, values, scores, slopes, edge, delta := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]
	h := k.q.Shape[1]
	dq := headAt(k.all, head, h, k.t, k.d, k.pitch[0], k.from[0])
	dk := headAt(k.all, head, h, k.s, k.d, k.pitch[1], k.from[1])
	dv := headAt(k.all, head, h, k.s, k.e, k.pitch[2], k.from[2])
	dq.clear(k.t)
	dk.clear(k.s)
	dv.clear(k.s)
	out, dy := headOf(k.out, head, h, k.t, k.e), headOf(k.dy, head, h, k.t, k.e)
	for i := range k.t {
		row := out.row(i)
		delta[i], _ = vec.slopes(row, dy.row(i), row, 0) // Σ dy·out
	}
	for j := 0; j < k.s; j += keyBlock {
		if !k.causal || j < k.t {
			block := min(keyBlock, k.s-j)
			k.pack(keys, k.k.at(head, j).transposed(), block, k.d)
			k.pack(values, k.v.at(head, j).transposed(), block, k.e)
		}
		for i := 0; i < k.t; i += queryBlock {
			m := min(queryBlock, k.t-i)
			n := k.seen(i+m-1, j)
			if n == 0 {
				continue
			}
			k.product(scores, keyBlock, k.q.at(head, i), keys, m, n, k.d, 0, edge)
			k.product(slopes, keyBlock, k.slope.at(head, i), values, m, n, k.e, 0, edge)
			factor := k.factor(scores, head, i, m, j, n)
			vec.softmaxGradientRows(vec, scores, slopes, k.block(i, m, j, n), factor, k.scale, k.sums[head*k.t+i:], delta[i:])
			p, ds := matrix{scores, keyBlock, 1}, matrix{slopes, keyBlock, 1}
			k.rowsProduct(dv.from(j), dv.pitch, p.transposed(), k.slope.at(head, i), n, k.e, m, addResult, space, edge)
			k.rowsProduct(dk.from(j), dk.pitch, ds.transposed(), k.q.at(head, i), n, k.d, m, addResult, space, edge)
			k.rowsProduct(dq.from(i), dq.pitch, ds, k.k.at(head, j), m, k.d, n, addResult, space, edge)
		}
	}
}
