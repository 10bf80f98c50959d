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
	q, k, v    headed

	add   addend
	added []float32 // to the scores; nil for nothing

	// A worker's memory: panels of a product's two sides, the keys' and the
	// values' panels, a block of scores, and a tile.
	panelA, panelB, keys, values, scores int
}

// headed is a tensor [B, H, rows, columns] of any layout.
type headed struct {
	ir.Operand
	data []float32
	rows []int // where each row of a block begins
}

func newHeaded(o ir.Operand) headed {
	h := headed{Operand: o, rows: make([]int, max(queryBlock, keyBlock))}
	for i := range h.rows {
		h.rows[i] = i * o.Stride[2]
	}
	return h
}

// at is the rows of a head from one on.
func (h *headed) at(head, row int) matrix {
	if len(h.data) == 0 {
		return matrix{nil, h.Stride[2], h.Stride[3]}
	}
	n := h.Shape[1]
	return matrix{h.data[head/n*h.Stride[0]+head%n*h.Stride[1]+row*h.Stride[2]:], h.Stride[2], h.Stride[3]}
}

// bind finds the numbers in memory.
func (h *headed) bind(p *program) { h.data = from[float32](p, h.Operand) }

func (m matrix) transposed() matrix { return matrix{m.data, m.col, m.row} }

// newHeads is for a step whose input with the number added, if there is one, is
// added to the scores.
func newHeads(d *Device, op ir.Attention, s ir.Step, added int) heads {
	q, v := s.In[0].Shape, s.In[2].Shape
	h := heads{device: d, causal: op.Causal, scale: float32(op.Scale), count: q[0] * q[1], t: q[2], s: v[2], d: q[3], e: v[3]}
	if len(s.In) > added {
		h.add = newAddend(s.In[added].Shape, q[1])
	}
	h.q, h.k, h.v = newHeaded(s.In[0]), newHeaded(s.In[1]), newHeaded(s.In[2])
	block, nr := max(queryBlock, keyBlock), d.kernel.nr
	widest := max(h.d, h.e, block)
	h.panelA = block * widest
	h.panelB = roundUp(widest, nr) * block
	h.keys, h.values = roundUp(keyBlock, nr)*h.d, roundUp(keyBlock, nr)*h.e
	h.scores = queryBlock * keyBlock
	return h
}

// bind finds the operands in memory; release lets go of them.
func (h *heads) bind(p *program, added []ir.Operand) {
	h.q.bind(p)
	h.k.bind(p)
	h.v.bind(p)
	if len(added) > 0 {
		h.added = elements[float32](p, added[0])
	}
}

func (h *heads) release() { h.q.data, h.k.data, h.v.data, h.added = nil, nil, nil, nil }

// factor makes scores of products of query i with keys from first on, but for a
// factor that is left to do.
func (h *heads) factor(row []float32, head, i, first int) float32 {
	if h.added == nil && h.scale > 0 {
		return h.scale
	}
	vec := h.device.vectors
	vec.mulScalar(row, row, h.scale)
	if h.added == nil || len(row) == 0 {
		return 1
	}
	at := h.add.at(head, i, first)
	if h.add.stride[3] == 0 {
		vec.addScalar(row, row, h.added[at])
	} else {
		vec.add(row, row, h.added[at:][:len(row)])
	}
	return 1
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

// pack writes n columns of depth k as a product's right-hand side.
func (h *heads) pack(panel []float32, b matrix, n, k int) {
	h.device.kernel.packColumns(panel, b.data, b.row, b.col, n, k)
}

// product is c (+)= a·b for blocks, with b's panels; of depth 0 it is zeros.
func (h *heads) product(c []float32, ldc int, a matrix, b []float32, m, n, k, mode int, space, edge []float32) {
	if k == 0 {
		for r := range m {
			clear(c[r*ldc:][:n])
		}
		return
	}
	h.device.kernel.packRows(space, a.data, a.row, a.col, m, k)
	h.device.multiply(panelProduct{c: c, ldc: ldc, a: space, depth: k, k: k, b: b, rows: m, cols: n, mode: mode, edge: edge})
}

// rowsProduct is product with rows of b as they lie, at offsets; where there are
// no tiles for that, they are packed.
func (h *heads) rowsProduct(c []float32, ldc int, a, b matrix, offsets []int, m, n, k, mode int, spaceA, spaceB, edge []float32) {
	t := &h.device.kernel
	if t.rowTiles == nil || n%t.lanes != 0 || b.col != 1 || n == 0 || k == 0 {
		h.pack(spaceB, b, n, k)
		h.product(c, ldc, a, spaceB, m, n, k, mode, spaceA, edge)
		return
	}
	t.packRows(spaceA, a.data, a.row, a.col, m, k)
	panels := t.panels(m)
	_ = b.data[offsets[k-1]+n-1]
	for j := 0; j < n; j += t.nr {
		vectors := min(t.nr, n-j) / t.lanes
		right := j + (vectors-1)*t.lanes
		for p := range panels {
			i, to := m*p/panels, m*(p+1)/panels
			t.rowTiles[to-i-1][vectors-1](k, &spaceA[i*k], &b.data[j], &b.data[right], &offsets[0], &c[i*ldc+j], ldc, mode)
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

// seen is how many of the keys from first on are worked on for the queries up to
// last: whole panels, and none that nobody sees.
func (h *heads) seen(last, first int) int {
	n := min(keyBlock, h.s-first)
	return min(roundUp(h.visible(last, first, n), h.device.kernel.nr), n)
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
	d.reserve(0, k.panelA+k.panelB+k.keys+k.scores+maxTile+2*queryBlock)
	return k, nil
}

func (k *attention) run(p *program) error {
	k.bind(p, k.step.In[3:])
	y := elements[float32](p, k.step.Out[0])
	k.out, k.sums = y[:k.count*k.t*k.e], y[k.count*k.t*k.e:]
	if k.t > 0 {
		p.device.pool.run(k.count, k)
	}
	k.release()
	k.out, k.sums = nil, nil
	return nil
}

func (k *attention) work(head, worker int) {
	parts := k.room(worker, k.panelA, k.panelB, k.keys, k.scores, maxTile, queryBlock, queryBlock)
	vec := k.device.vectors
	spaceA, spaceB, keys, scores, edge, top, sum := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]
	if k.s <= keyBlock { // the keys stay packed for all queries
		k.pack(keys, k.k.at(head, 0).transposed(), k.s, k.d)
	}
	for i := 0; i < k.t; i += queryBlock {
		m := min(queryBlock, k.t-i)
		out := k.out[(head*k.t+i)*k.e:][:m*k.e]
		for r := range m {
			top[r], sum[r] = float32(math.Inf(-1)), 0
		}
		for j := 0; j < k.s; j += keyBlock {
			n := k.seen(i+m-1, j)
			if n == 0 {
				break
			}
			if k.s > keyBlock {
				k.pack(keys, k.k.at(head, j).transposed(), min(keyBlock, k.s-j), k.d)
			}
			k.product(scores, keyBlock, k.q.at(head, i), keys, m, n, k.d, 0, spaceA, edge)
			for r := range m {
				row := scores[r*keyBlock:][:n]
				seen := row[:k.visible(i+r, j, n)]
				clear(row[len(seen):])
				factor := k.factor(seen, head, i+r, j)
				high := max(top[r], factor*vec.largest(seen))
				if math.IsInf(float64(high), -1) {
					high = 0 // no score but -Inf so far
				}
				added := vec.expSum(seen, seen, factor, -high)
				if j > 0 {
					keep := float32(math.Exp(float64(top[r] - high)))
					sum[r] *= keep
					vec.mulScalar(out[r*k.e:][:k.e], out[r*k.e:][:k.e], keep)
				}
				sum[r] += added
				top[r] = high
			}
			mode := addResult
			if j == 0 {
				mode = 0
			}
			k.rowsProduct(out, k.e, matrix{scores, keyBlock, 1}, k.v.at(head, j), k.v.rows, m, k.e, n, mode, spaceA, spaceB, edge)
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
