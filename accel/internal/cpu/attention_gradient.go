package cpu

import "github.com/quernlab/quern/accel/internal/ir"

var _ = implement[ir.AttentionGradient](newAttentionGradient, float64AttentionGradient)

// attentionGradient recomputes each block of scores and adds its part to the gradients of
// queries, keys and values.
type attentionGradient struct {
	heads
	step       ir.Step
	out, sums  []float32
	dy         []float32
	slope      headed // dy, by heads
	dq, dk, dv []float32
}

func newAttentionGradient(d *Device, s ir.Step) (step, error) {
	k := &attentionGradient{heads: newHeads(d, s.Op.(ir.AttentionGradient).Attention, s, 5), step: s}
	shape := []int{s.In[0].Shape[0], s.In[0].Shape[1], k.t, k.e}
	k.slope.Operand = ir.Operand{Slot: s.In[4].Slot, DType: s.In[4].DType, Layout: ir.RowMajor(shape)}
	d.reserve(0, k.panel+k.keys+k.values+2*k.scores+maxTile+k.t)
	return k, nil
}

func (k *attentionGradient) run(p *program) error {
	k.bind(p, k.step.In[5:])
	all := elements[float32](p, k.step.Out[0])
	nq, nk := ir.Len(k.q.Shape), ir.Len(k.k.Shape)
	k.dq, k.dk, k.dv = all[:nq], all[nq:nq+nk], all[nq+nk:]
	n := k.count * k.t * k.e
	saved := elements[float32](p, k.step.In[3])
	k.out, k.sums, k.dy = saved[:n], saved[n:], elements[float32](p, k.step.In[4])[:n]
	k.slope.data = k.dy
	if k.t > 0 {
		p.device.pool.run(k.count, k)
	} else {
		clear(all)
	}
	k.release()
	k.out, k.sums, k.dy, k.slope.data, k.dq, k.dk, k.dv = nil, nil, nil, nil, nil, nil, nil
	return nil
}

func (k *attentionGradient) work(head, worker int) {
	parts := k.workspace(worker, k.panel, k.keys, k.values, k.scores, k.scores, maxTile, k.t)
	vec := k.device.vectors
	space, keys, values, scores, slopes, edge, delta := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]
	dq, dk, dv := k.dq[head*k.t*k.d:][:k.t*k.d], k.dk[head*k.s*k.d:][:k.s*k.d], k.dv[head*k.s*k.e:][:k.s*k.e]
	clear(dq)
	clear(dk)
	clear(dv)
	out, dy := k.out[head*k.t*k.e:], k.dy[head*k.t*k.e:]
	for i := range k.t {
		row := out[i*k.e:][:k.e]
		delta[i], _ = vec.slopes(row, dy[i*k.e:][:k.e], row, 0) // Σ dy·out
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
			k.rowsProduct(dv[j*k.e:], k.e, p.transposed(), k.slope.at(head, i), n, k.e, m, addResult, space, edge)
			k.rowsProduct(dk[j*k.d:], k.d, ds.transposed(), k.q.at(head, i), n, k.d, m, addResult, space, edge)
			k.rowsProduct(dq[i*k.d:], k.d, ds, k.k.at(head, j), m, k.d, n, addResult, space, edge)
		}
	}
}
