package cpu

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.Attention](newAttention)

// The scores of at most queryBlock queries and keyBlock keys are computed together. The operands of keys are laid out once for the
// queries of a range. All fit in the L2 cache. Rows of scores are an odd number of cache lines apart, so that a product that reads
// their columns finds them in all sets of the L1 cache.
const (
	queryBlock = 32
	queryRange = 128
	keyBlock   = 128
	scorePitch = keyBlock + cacheLine/4
	diagonal   = 16 // queries and keys at once where only some scores are visible; ranges and blocks are multiples of it
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

	later []lines // of each worker: what the block after the one in progress reads and writes

	// Sizes of parts of a worker's workspace: keys and values as panels, and copies of rows of d and of e elements.
	keys, values, rowsD, rowsE int
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

// at returns the rows starting at i.
func (h headRows) at(i int) matrix { return matrix{h.from(i), h.pitch, 1} }

// from returns the rows starting at i.
func (h headRows) from(i int) []float32 { return h.data[min(i*h.pitch, len(h.data)):] }

func (h headRows) clear(first, rows int) {
	for i := range rows {
		clear(h.row(first + i))
	}
}

// bind looks up the memory.
func (h *headed) bind(p *program) { h.data = from[float32](p, h.Operand) }

// from returns the rows starting at i.
func (m matrix) from(i int) matrix { return matrix{m.data[min(i*m.row, len(m.data)):], m.row, m.col} }

func (m matrix) transposed() matrix { return matrix{m.data, m.col, m.row} }

// newHeads returns the heads of a step; added is the index of the input that is added to
// the scores, if there is one.
func newHeads(d *Device, op ir.Attention, s ir.Step, added int) heads {
	q, v := s.In[0].Shape, s.In[2].Shape
	h := heads{device: d, causal: op.Causal, scale: float32(op.Scale), count: q[0] * q[1], t: q[2], s: v[2], d: q[3], e: v[3]}
	if len(s.In) > added {
		h.add = newAddend(s.In[added].Shape, q[1])
	}
	h.later = make([]lines, d.pool.size)
	for i, to := range []*headed{&h.q, &h.k, &h.v} {
		to.Operand = s.In[i]
		to.Stride = slices.Clone(to.Stride)
		for _, axis := range []int{2, 3} {
			if to.Shape[axis] == 1 { // 0 is the stride of elements that are repeated
				to.Stride[axis] = 1
			}
		}
	}
	nr := d.kernel.nr
	h.keys, h.values = roundUp(keyBlock, nr)*h.d, roundUp(keyBlock, nr)*h.e
	h.rowsD, h.rowsE = max(queryRange, keyBlock)*copyPitch(h.d), max(queryRange, keyBlock)*copyPitch(h.e)
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
		row := scores[r*scorePitch:][:h.visible(i+r, first, n)]
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
// are visible. Those of width keys are set to zero otherwise.
func (h *heads) block(i, m, first, width int) scoreRows {
	if h.causal {
		return scoreRows{rows: m, width: width, pitch: scorePitch, seen: i + 1 - first, step: 1}
	}
	return scoreRows{rows: m, width: width, pitch: scorePitch, seen: width}
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

// product computes c (+)= a·b for blocks, with b packed, or its rows next elements apart; for depth 0 it writes zeros.
func (h *heads) product(c []float32, ldc int, a matrix, b []float32, next, m, n, k, mode int, edge []float32, later *lines) {
	if k == 0 {
		for r := range m {
			clear(c[r*ldc:][:n])
		}
		return
	}
	h.device.multiply(panelProduct{c: c, ldc: ldc, a: a.data, row: a.row, step: a.col, k: k, b: b, next: next, rows: m, cols: n, mode: mode, edge: edge, later: later})
}

// prefetch replaces a worker's later lines by those of the queries starting at i, and of the keys and values starting at first.
func (h *heads) prefetch(worker, head, i, first int) *lines {
	l := &h.later[worker]
	l.columns = l.columns[:0]
	l.add(h.q.at(head, i), min(queryRange, h.t-i), h.d)
	l.add(h.k.at(head, first), min(keyBlock, h.s-first), h.d)
	l.add(h.v.at(head, first), min(keyBlock, h.s-first), h.e)
	return l
}

// copyPitch is the distance of copied rows of n elements: an odd number of cache lines, as of rows of scores.
func copyPitch(n int) int { return roundUp(n, cacheLine/4) | cacheLine/4 }

// copyRows copies rows of n elements, with zeros after the end.
func (h *heads) copyRows(dst []float32, from matrix, rows, n int) {
	pitch := copyPitch(n)
	for r := range rows {
		row := dst[r*pitch:][:pitch]
		if from.col == 1 && n > 0 {
			copy(row[:n], from.data[r*from.row:])
		} else {
			for c := range n {
				row[c] = from.data[r*from.row+c*from.col]
			}
		}
		clear(row[n:])
	}
}

// together returns how many rows of scores, or columns of their weights, are multiplied at once, of a range of queries starting at i
// and a block of keys starting at first: few where that leaves out hidden scores, else whole panels.
func (h *heads) together(i, first int) int {
	if h.causal && i < min(first+keyBlock, h.s)-1 {
		return diagonal
	}
	return queryBlock / h.device.kernel.mr * h.device.kernel.mr
}

// rowsOf returns contiguous rows of n elements that tiles can read: where they are, or copied to space. A matmul takes a stride of 0, that of
// rows or elements that are repeated, for that of a packed operand.
func (h *heads) rowsOf(space []float32, m matrix, rows, n int) matrix {
	if m.col == 1 && m.row != 0 && n > 0 && n%h.device.kernel.lanes == 0 {
		return m
	}
	h.copyRows(space, m, rows, n)
	return matrix{space, copyPitch(n), 1}
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
	d.reserve(0, k.keys+k.rowsE+queryBlock*scorePitch+maxTile+2*queryRange+2*queryBlock+k.repeated())
	return k, nil
}

// repeated returns the size of a copy of a block of queries whose elements are repeated; 0 for others, which tiles read where they are.
func (k *attention) repeated() int {
	if k.q.Stride[3] != 0 {
		return 0
	}
	return queryBlock * copyPitch(k.d)
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
	parts := k.workspace(worker, k.keys, k.rowsE, queryBlock*scorePitch, maxTile, queryRange, queryRange, queryBlock, queryBlock, k.repeated())
	vec := k.device.vectors
	keys, space, scores, edge, top, sum, before, added := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7]
	var values matrix
	y := headOf(k.out, head, k.q.Shape[1], k.t, k.e)
	for first := 0; first < k.t; first += queryRange {
		end := min(first+queryRange, k.t)
		for r := range end - first {
			top[r], sum[r] = float32(math.Inf(-1)), 0
		}
		for j := 0; j < k.s && k.seen(end-1, j) > 0; j += keyBlock {
			if first == 0 || k.s > keyBlock { // else they are there for all queries
				k.pack(keys, k.k.at(head, j).transposed(), min(keyBlock, k.s-j), k.d)
				values = k.rowsOf(space, k.v.at(head, j), min(keyBlock, k.s-j), k.e)
			}
			later := k.after(worker, head, first, j)
			step := k.together(first, j)
			for i := first; i < end; i += step {
				m := min(step, end-i)
				n := k.seen(i+m-1, j)
				if n == 0 {
					continue
				}
				top, sum := top[i-first:], sum[i-first:]
				queries := k.q.at(head, i)
				if queries.col == 0 {
					queries = k.rowsOf(parts[8], queries, m, k.d)
				}
				k.product(scores, scorePitch, queries, keys, 0, m, n, k.d, 0, edge, later)
				factor := k.factor(scores, head, i, m, j, n)
				mode := 0
				if j == 0 {
					vec.softmaxRows(vec, scores, k.block(i, m, j, n), factor, top, sum)
				} else {
					mode = addResult
					copy(before, top[:m])
					vec.softmaxRows(vec, scores, k.block(i, m, j, n), factor, top, added)
					for r := range m {
						if before[r] == top[r] {
							sum[r] += added[r]
							continue
						}
						keep := float32(math.Exp(float64(before[r] - top[r])))
						sum[r] = sum[r]*keep + added[r]
						vec.mulScalar(y.row(i+r), y.row(i+r), keep)
					}
				}
				k.product(y.from(i), y.pitch, matrix{scores, scorePitch, 1}, values.data, values.row, m, k.e, n, mode, edge, later)
			}
		}
		for i := first; i < end; i++ {
			k.finish(head, i, y.row(i), top[i-first], sum[i-first])
		}
	}
}

// after returns the lines of the block that follows the one of queries and keys that start at first and j, in this head or the next one.
func (k *attention) after(worker, head, first, j int) *lines {
	if j += keyBlock; j >= k.s || k.seen(min(first+queryRange, k.t)-1, j) == 0 {
		first, j = first+queryRange, 0
	}
	if first >= k.t {
		head, first = head+1, 0
	}
	if head == k.count {
		return nil
	}
	l := k.prefetch(worker, head, first, j)
	l.add(headOf(k.out, head, k.q.Shape[1], k.t, k.e).at(first), min(queryRange, k.t-first), k.e)
	return l
}

// finish divides a row of the result by its sum, and writes the logarithm.
func (k *attention) finish(head, i int, row []float32, top, sum float32) {
	if sum == 0 { // the query sees no key
		clear(row)
		k.sums[head*k.t+i] = 0
		return
	}
	k.device.vectors.mulScalar(row, row, 1/sum)
	k.sums[head*k.t+i] = top + float32(math.Log(float64(sum)))
}
