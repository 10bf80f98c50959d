package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.Attention](newAttention)

// Blocks of queries and keys whose scores are computed together: small enough that they fit
// in the L2 cache with their operands.
const (
	queryBlock = 32
	keyBlock   = 128
)

// heads is the state that attention and its gradient share: one chunk computes one head of
// one example.
type heads struct {
	device     *Device
	causal     bool
	scale      float32
	count      int // number of heads in the batch
	t, s, d, e int
	q, k, v    headed

	add   addend
	added []float32 // added to the scores; nil for nothing

	// Sizes of a worker's workspace: panels of a right-hand side, the panels of keys and
	// values, and a block of scores.
	panel, keys, values, scores int
}

// headed is a tensor [B, H, rows, columns] of any layout.
type headed struct {
	ir.Operand
	data []float32
}

// at returns the rows of a head, starting at row.
func (h *headed) at(head, row int) matrix {
	if len(h.data) == 0 {
		return matrix{nil, h.Stride[2], h.Stride[3]}
	}
	n := h.Shape[1]
	return matrix{h.data[head/n*h.Stride[0]+head%n*h.Stride[1]+row*h.Stride[2]:], h.Stride[2], h.Stride[3]}
}

// addend maps scores [B, H, T, S] to elements of the tensor that is added to them; its
// dimensions of size 1 are broadcast.
type addend struct {
	heads  int // heads per example
	stride [4]int
}

func newAddend(shape []int, heads int) addend {
	a := addend{heads: heads}
	for i, n := range ir.Strides(shape) {
		if shape[i] > 1 {
			a.stride[i] = n
		}
	}
	return a
}

// at returns the offset for a head, counted over the whole batch, a query and a key.
func (a *addend) at(head, query, key int) int {
	return head/a.heads*a.stride[0] + head%a.heads*a.stride[1] + query*a.stride[2] + key*a.stride[3]
}

// headRows are the rows of one head of a result, which lie pitch elements apart.
type headRows struct {
	data          []float32
	pitch, length int
}

// headOf returns the rows of a head of a tensor [B, rows, heads, length].
func headOf(data []float32, head, heads, rows, length int) headRows {
	return headAt(data, head, heads, rows, length, heads*length, 0)
}

// headAt returns the rows of a head where the heads of a row start at offset in pitch elements.
func headAt(data []float32, head, heads, rows, length, pitch, offset int) headRows {
	at := min(head/heads*rows*pitch+offset+head%heads*length, len(data))
	return headRows{data[at:], pitch, length}
}

func (h headRows) row(i int) []float32 { return h.data[i*h.pitch:][:h.length] }

// from returns the rows starting at i.
func (h headRows) from(i int) []float32 { return h.data[min(i*h.pitch, len(h.data)):] }

func (h headRows) clear(rows int) {
	for i := range rows {
		clear(h.row(i))
	}
}

// bind looks up the memory.
func (h *headed) bind(p *program) { h.data = from[float32](p, h.Operand) }

func (m matrix) transposed() matrix { return matrix{m.data, m.col, m.row} }

// newHeads returns the heads of a step; added is the index of the input that is added to
// the scores, if there is one.
func newHeads(d *Device, op ir.Attention, s ir.Step, added int) heads {
	q, v := s.In[0].Shape, s.In[2].Shape
	h := heads{device: d, causal: op.Causal, scale: float32(op.Scale), count: q[0] * q[1], t: q[2], s: v[2], d: q[3], e: v[3]}
	if len(s.In) > added {
		h.add = newAddend(s.In[added].Shape, q[1])
	}
	h.q.Operand, h.k.Operand, h.v.Operand = s.In[0], s.In[1], s.In[2]
	block, nr := max(queryBlock, keyBlock), d.kernel.nr
	h.panel = roundUp(max(h.d, h.e, block), nr) * block
	h.keys, h.values = roundUp(keyBlock, nr)*h.d, roundUp(keyBlock, nr)*h.e
	h.scores = queryBlock * keyBlock
	return h
}

// bind looks up the memory of the operands; release drops the references.
func (h *heads) bind(p *program, added []ir.Operand) {
	h.q.bind(p)
	h.k.bind(p)
	h.v.bind(p)
	if len(added) > 0 {
		h.added = elements[float32](p, added[0])
	}
}

func (h *heads) release() { h.q.data, h.k.data, h.v.data, h.added = nil, nil, nil, nil }

// factor computes the scores of m queries starting at i with n keys starting at first. It
// returns a factor that the caller must apply.
func (h *heads) factor(scores []float32, head, i, m, first, n int) float32 {
	if h.added == nil && h.scale > 0 {
		return h.scale
	}
	vec := h.device.vectors
	for r := range m {
		row := scores[r*keyBlock:][:h.visible(i+r, first, n)]
		vec.mulScalar(row, row, h.scale)
		if h.added == nil || len(row) == 0 {
			continue
		}
		at := h.add.at(head, i+r, first)
		if h.add.stride[3] == 0 {
			vec.addScalar(row, row, h.added[at])
		} else {
			vec.add(row, row, h.added[at:][:len(row)])
		}
	}
	return 1
}

// block returns which scores of m queries, starting at i, and n keys, starting at first,
// are visible.
func (h *heads) block(i, m, first, n int) scoreRows {
	if h.causal {
		return scoreRows{rows: m, width: n, pitch: keyBlock, seen: i + 1 - first, step: 1}
	}
	return scoreRows{rows: m, width: n, pitch: keyBlock, seen: n}
}

// workspace splits one worker's workspace into parts of the given sizes.
func (h *heads) workspace(worker int, sizes ...int) [][]float32 {
	free := h.device.scratch[worker]
	parts := make([][]float32, len(sizes))
	for i, n := range sizes {
		parts[i] = free[:n]
		free = free[n:]
	}
	return parts
}

// pack packs n columns of depth k as the right-hand side of a matmul.
func (h *heads) pack(panel []float32, b matrix, n, k int) {
	h.device.kernel.packColumns(panel, b.data, b.row, b.col, n, k)
}

// product computes c (+)= a·b for blocks, with b packed; for depth 0 it writes zeros.
func (h *heads) product(c []float32, ldc int, a matrix, b []float32, m, n, k, mode int, edge []float32) {
	if k == 0 {
		for r := range m {
			clear(c[r*ldc:][:n])
		}
		return
	}
	h.device.multiply(panelProduct{c: c, ldc: ldc, a: a.data, row: a.row, step: a.col, k: k, b: b, rows: m, cols: n, mode: mode, edge: edge})
}

// rowsProduct is product with the rows of b in place, if tiles can read them, else packed.
func (h *heads) rowsProduct(c []float32, ldc int, a, b matrix, m, n, k, mode int, space, edge []float32) {
	if n%h.device.kernel.lanes != 0 || b.col != 1 || n == 0 || k == 0 {
		h.pack(space, b, n, k)
		h.product(c, ldc, a, space, m, n, k, mode, edge)
		return
	}
	h.device.multiply(panelProduct{c: c, ldc: ldc, a: a.data, row: a.row, step: a.col, k: k, b: b.data, next: b.row, rows: m, cols: n, mode: mode, edge: edge})
}

// visible returns the number of the n keys, starting at first, that query i attends to.
func (h *heads) visible(i, first, n int) int {
	if !h.causal {
		return n
	}
	return max(0, min(n, i+1-first))
}

// seen returns the number of keys, starting at first, to process for the queries up to
// last: whole panels with at least one visible key.
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
	d.reserve(0, k.panel+k.keys+k.scores+maxTile+4*queryBlock)
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
	parts := k.workspace(worker, k.panel, k.keys, k.scores, maxTile, queryBlock, queryBlock, queryBlock, queryBlock)
	vec := k.device.vectors
	space, keys, scores, edge, top, sum, before, added := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7]
	if k.s <= keyBlock { // keep the packed keys for all queries
		k.pack(keys, k.k.at(head, 0).transposed(), k.s, k.d)
	}
	y := headOf(k.out, head, k.q.Shape[1], k.t, k.e)
	for i := 0; i < k.t; i += queryBlock {
		m := min(queryBlock, k.t-i)
		out := y.from(i)
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
			k.product(scores, keyBlock, k.q.at(head, i), keys, m, n, k.d, 0, edge)
			factor := k.factor(scores, head, i, m, j, n)
			mode := 0
			if j == 0 {
				vec.softmaxRows(vec, scores, k.block(i, m, j, n), factor, top, sum)
			} else {
				mode = addResult
				copy(before, top)
				vec.softmaxRows(vec, scores, k.block(i, m, j, n), factor, top, added)
				for r := range m {
					keep := float32(math.Exp(float64(before[r] - top[r])))
					sum[r] = sum[r]*keep + added[r]
					vec.mulScalar(y.row(i+r), y.row(i+r), keep)
				}
			}
			k.rowsProduct(out, y.pitch, matrix{scores, keyBlock, 1}, k.v.at(head, j), m, k.e, n, mode, space, edge)
		}
		for r := range m {
			if sum[r] == 0 { // the query sees no key
				clear(y.row(i + r))
				k.sums[head*k.t+i+r] = 0
				continue
			}
			vec.mulScalar(y.row(i+r), y.row(i+r), 1/sum[r])
			k.sums[head*k.t+i+r] = top[r] + float32(math.Log(float64(sum[r])))
		}
	}
}
