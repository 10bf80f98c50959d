package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Blocks of queries and keys whose scores are made together: small enough for
// the second-level cache with all that belongs to them.
const (
	queryBlock = 64
	keyBlock   = 128
)

// heads is what attention and its gradient share: one chunk takes one head of
// one example.
type heads struct {
	device     *Device
	causal     bool
	scale      float32
	count      int // heads of all examples
	t, s, d, e int
	q, k, v    []float32

	add   addend
	added []float32 // to the scores; nil for nothing

	// A worker's memory: the product's two panels, and blocks of
	// scores and of results.
	panelA, panelB, scores, wide int
}

// newHeads is for a step whose input with the number added, if there is one, is
// added to the scores.
func newHeads(d *Device, op ir.Attention, s ir.Step, added int) heads {
	q, v := s.In[0].Shape, s.In[2].Shape
	h := heads{device: d, causal: op.Causal, scale: float32(op.Scale), count: q[0] * q[1], t: q[2], s: v[2], d: q[3], e: v[3]}
	if len(s.In) > added {
		h.add = newAddend(s.In[added].Shape, q[1])
	}
	mr, nr := d.kernel.mr, d.kernel.nr
	widest := max(h.d, h.e, keyBlock)
	h.panelA = roundUp(max(queryBlock, keyBlock), mr) * widest
	h.panelB = roundUp(widest, nr) * max(widest, queryBlock)
	h.scores = roundUp(queryBlock, mr) * roundUp(keyBlock, nr)
	h.wide = roundUp(max(queryBlock, keyBlock), mr) * roundUp(max(h.d, h.e), nr)
	return h
}

// score makes scores of products of query i with keys from first on.
func (h *heads) score(row []float32, head, i, first int) {
	vec := h.device.vectors
	vec.mulScalar(row, row, h.scale)
	if h.added == nil || len(row) == 0 {
		return
	}
	at := h.add.at(head, i, first)
	if h.add.stride[3] == 0 {
		vec.addScalar(row, row, h.added[at])
	} else {
		vec.add(row, row, h.added[at:][:len(row)])
	}
}

// room is one worker's memory, cut into parts of so many elements.
func (h *heads) room(worker int, sizes ...int) [][]float32 {
	free := h.device.scratch[worker]
	parts := make([][]float32, len(sizes))
	for i, n := range sizes {
		parts[i] = free[:n]
		free = free[n:]
	}
	return parts
}

// product is c = a·b for blocks; c has ldc elements between rows and room for
// whole tiles.
func (h *heads) product(c []float32, ldc int, a, b matrix, m, n, k int, spaceA, spaceB []float32) {
	kernel := &h.device.kernel
	kernel.packRows(spaceA, a.data, a.row, a.col, m, k)
	kernel.packColumns(spaceB, b.data, b.row, b.col, n, k)
	panels := kernel.panels(m)
	for j := 0; j < n; j += kernel.nr {
		vectors := kernel.width(min(kernel.nr, n-j)) / kernel.lanes
		for p := range panels {
			i, to := m*p/panels, m*(p+1)/panels
			kernel.tiles[to-i-1][vectors-1](k, &spaceA[i*k], &spaceB[j*k], &c[i*ldc+j], ldc, 0, nil)
		}
	}
}

// visible is how many of the n keys from first on query i sees.
func (h *heads) visible(i, first, n int) int {
	if !h.causal {
		return n
	}
	return max(0, min(n, i+1-first))
}

// attention computes the result, with running maxima and sums of each query's
// scores (Milakov and Gimelshein, arXiv:1805.02867).
type attention struct {
	heads
	step      ir.Step
	out, sums []float32
}

func newAttention(d *Device, s ir.Step) (step, error) {
	k := &attention{heads: newHeads(d, s.Op.(ir.Attention), s, 3), step: s}
	d.reserve(0, k.panelA+k.panelB+k.scores+k.wide+queryBlock*(k.e+2))
	return k, nil
}

func (k *attention) run(p *program) error {
	in := func(i int) []float32 { return elements[float32](p, k.step.In[i]) }
	k.q, k.k, k.v = in(0), in(1), in(2)
	if len(k.step.In) > 3 {
		k.added = in(3)
	}
	y := elements[float32](p, k.step.Out[0])
	k.out, k.sums = y[:k.count*k.t*k.e], y[k.count*k.t*k.e:]
	if k.t > 0 {
		p.device.pool.run(k.count, k)
	}
	k.q, k.k, k.v, k.out, k.sums, k.added = nil, nil, nil, nil, nil, nil
	return nil
}

func (k *attention) work(head, worker int) {
	parts := k.room(worker, k.panelA, k.panelB, k.scores, k.wide, queryBlock, queryBlock)
	vec := k.device.vectors
	spaceA, spaceB, scores, product, top, sum := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]
	lds, ldp := roundUp(keyBlock, k.device.kernel.nr), roundUp(k.e, k.device.kernel.nr)
	q, keys, v := k.q[head*k.t*k.d:], k.k[head*k.s*k.d:], k.v[head*k.s*k.e:]
	for i := 0; i < k.t; i += queryBlock {
		m := min(queryBlock, k.t-i)
		out := k.out[(head*k.t+i)*k.e:][:m*k.e]
		clear(out)
		for r := range m {
			top[r], sum[r] = float32(math.Inf(-1)), 0
		}
		for j := 0; j < k.s && k.visible(i+m-1, j, 1) > 0; j += keyBlock {
			n := min(keyBlock, k.s-j)
			k.product(scores, lds, matrix{q[i*k.d:], k.d, 1}, matrix{keys[j*k.d:], 1, k.d}, m, n, k.d, spaceA, spaceB)
			for r := range m {
				row := scores[r*lds:][:n]
				seen := row[:k.visible(i+r, j, n)]
				clear(row[len(seen):])
				k.score(seen, head, i+r, j)
				high := max(top[r], vec.largest(seen))
				if math.IsInf(float64(high), -1) {
					high = 0 // no score but -Inf so far
				}
				vec.addScalar(seen, seen, -high)
				vec.exp(seen, seen)
				keep := float32(math.Exp(float64(top[r] - high)))
				sum[r] = sum[r]*keep + vec.sum(seen)
				vec.mulScalar(out[r*k.e:][:k.e], out[r*k.e:][:k.e], keep)
				top[r] = high
			}
			k.product(product, ldp, matrix{scores, lds, 1}, matrix{v[j*k.e:], k.e, 1}, m, k.e, n, spaceA, spaceB)
			for r := range m {
				vec.add(out[r*k.e:][:k.e], out[r*k.e:][:k.e], product[r*ldp:][:k.e])
			}
		}
		for r := range m {
			if sum[r] == 0 { // it sees no key
				clear(out[r*k.e:][:k.e])
				k.sums[head*k.t+i+r] = 0
				continue
			}
			vec.mulScalar(out[r*k.e:][:k.e], out[r*k.e:][:k.e], 1/sum[r])
			k.sums[head*k.t+i+r] = top[r] + float32(math.Log(float64(sum[r])))
		}
	}
}
