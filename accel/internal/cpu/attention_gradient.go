package cpu

import "github.com/quernlab/quern/accel/internal/ir"

// attentionGradient makes each block of scores again and adds its part to the
// gradients of queries, keys and values.
type attentionGradient struct {
	heads
	step       ir.Step
	out, sums  []float32
	dy         []float32
	dq, dk, dv []float32
}

func newAttentionGradient(d *Device, s ir.Step) (step, error) {
	k := &attentionGradient{heads: newHeads(d, s.Op.(ir.AttentionGradient).Attention, s, 5), step: s}
	d.reserve(0, k.panelA+k.panelB+2*k.scores+k.wide+k.t+k.e)
	return k, nil
}

func (k *attentionGradient) run(p *program) error {
	in := func(i int) []float32 { return elements[float32](p, k.step.In[i]) }
	k.q, k.k, k.v = in(0), in(1), in(2)
	all := elements[float32](p, k.step.Out[0])
	clear(all)
	nq, nk := len(k.q), len(k.k)
	k.dq, k.dk, k.dv = all[:nq], all[nq:nq+nk], all[nq+nk:]
	if len(k.step.In) > 5 {
		k.added = in(5)
	}
	n := k.count * k.t * k.e
	k.out, k.sums, k.dy = in(3)[:n], in(3)[n:], in(4)[:n]
	if k.t > 0 {
		p.device.pool.run(k.count, k)
	}
	k.q, k.k, k.v, k.out, k.sums, k.dy, k.dq, k.dk, k.dv, k.added = nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
	return nil
}

func (k *attentionGradient) work(head, worker int) {
	parts := k.room(worker, k.panelA, k.panelB, k.scores, k.scores, k.wide, k.t, k.e)
	vec := k.device.vectors
	spaceA, spaceB, scores, slopes, product, delta, spare := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]
	nr := k.device.kernel.nr
	lds, ldd, lde := roundUp(keyBlock, nr), roundUp(k.d, nr), roundUp(k.e, nr)
	q, keys, v := k.q[head*k.t*k.d:], k.k[head*k.s*k.d:], k.v[head*k.s*k.e:]
	dq, dk, dv := k.dq[head*k.t*k.d:], k.dk[head*k.s*k.d:], k.dv[head*k.s*k.e:]
	out, dy := k.out[head*k.t*k.e:], k.dy[head*k.t*k.e:]
	for i := range k.t {
		vec.mul(spare, out[i*k.e:][:k.e], dy[i*k.e:][:k.e])
		delta[i] = vec.sum(spare)
	}
	add := func(to, from []float32, rows, width, ld int) {
		for r := range rows {
			vec.add(to[r*width:][:width], to[r*width:][:width], from[r*ld:][:width])
		}
	}
	for j := 0; j < k.s; j += keyBlock {
		n := min(keyBlock, k.s-j)
		for i := 0; i < k.t; i += queryBlock {
			m := min(queryBlock, k.t-i)
			if k.visible(i+m-1, j, 1) == 0 {
				continue
			}
			k.product(scores, lds, matrix{q[i*k.d:], k.d, 1}, matrix{keys[j*k.d:], 1, k.d}, m, n, k.d, spaceA, spaceB)
			k.product(slopes, lds, matrix{dy[i*k.e:], k.e, 1}, matrix{v[j*k.e:], 1, k.e}, m, n, k.e, spaceA, spaceB)
			for r := range m {
				seen := k.visible(i+r, j, n)
				p, ds := scores[r*lds:][:seen], slopes[r*lds:][:seen]
				clear(scores[r*lds+seen:][:n-seen])
				clear(slopes[r*lds+seen:][:n-seen])
				k.score(p, head, i+r, j)
				vec.addScalar(p, p, -k.sums[head*k.t+i+r])
				vec.exp(p, p)
				vec.addScalar(ds, ds, -delta[i+r])
				vec.mul(ds, ds, p)
				vec.mulScalar(ds, ds, k.scale)
			}
			k.product(product, lde, matrix{scores, 1, lds}, matrix{dy[i*k.e:], k.e, 1}, n, k.e, m, spaceA, spaceB)
			add(dv[j*k.e:], product, n, k.e, lde)
			k.product(product, ldd, matrix{slopes, 1, lds}, matrix{q[i*k.d:], k.d, 1}, n, k.d, m, spaceA, spaceB)
			add(dk[j*k.d:], product, n, k.d, ldd)
			k.product(product, ldd, matrix{slopes, lds, 1}, matrix{keys[j*k.d:], k.d, 1}, m, k.d, n, spaceA, spaceB)
			add(dq[i*k.d:], product, m, k.d, ldd)
		}
	}
}
