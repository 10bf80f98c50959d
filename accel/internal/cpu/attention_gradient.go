package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implementFloat32[ir.AttentionGradient](newAttentionGradient)

// attentionGradient recomputes the scores of some queries and keys, and adds their part to the gradients.
// It keeps the weights and slopes of queryRange queries, so that the products for keys and values are deep.
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
	d.reserve(0, k.keys+k.values+2*k.rowsD+k.rowsE+2*queryRange*scorePitch+maxTile+k.t)
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
	parts := k.workspace(worker, k.keys, k.values, k.rowsD, k.rowsD, k.rowsE, queryRange*scorePitch, queryRange*scorePitch, maxTile, k.t)
	w := gradientSpace{keys: parts[0], values: parts[1], space: [3][]float32{parts[2], parts[3], parts[4]}, weights: parts[5], slopes: parts[6], edge: parts[7], delta: parts[8]}
	dq, dk, dv := k.gradients(head)
	out, dy := k.results(head)
	for i := range k.t {
		row := out.row(i)
		w.delta[i], _ = k.device.vectors.slopes(row, dy.row(i), row, 0) // Σ dy·out
	}
	for j := 0; j < k.s; j += keyBlock {
		n, first := min(keyBlock, k.s-j), k.firstRange(j)
		if first >= k.t { // no query sees these keys
			dk.clear(j, n)
			dv.clear(j, n)
			continue
		}
		k.pack(w.keys, k.k.at(head, j).transposed(), n, k.d)
		k.pack(w.values, k.v.at(head, j).transposed(), n, k.e)
		w.keyRows = k.rowsOf(w.space[0], k.k.at(head, j), n, k.d)
		for i := first; i < k.t; i += queryRange {
			m := min(queryRange, k.t-i)
			w.later = k.after(worker, head, i, j)
			w.queries = k.rowsOf(w.space[1], k.q.at(head, i), m, k.d)
			w.dy = k.rowsOf(w.space[2], k.slope.at(head, i), m, k.e)
			k.queries(w, head, i, m, j, dq)
			for c, step := 0, k.together(i, j); c < n; c += step {
				k.someKeys(w, i, m, j, c, min(step, n-c), i > first, dk, dv)
			}
		}
	}
}

// gradients returns the rows of a head's gradients of queries, keys and values.
func (k *attentionGradient) gradients(head int) (dq, dk, dv headRows) {
	h := k.q.Shape[1]
	return headAt(k.all, head, h, k.t, k.d, k.pitch[0], k.from[0]), headAt(k.all, head, h, k.s, k.d, k.pitch[1], k.from[1]),
		headAt(k.all, head, h, k.s, k.e, k.pitch[2], k.from[2])
}

// results returns the rows of a head's results and of their gradients.
func (k *attentionGradient) results(head int) (out, dy headRows) {
	h := k.q.Shape[1]
	return headOf(k.out, head, h, k.t, k.e), headOf(k.dy, head, h, k.t, k.e)
}

// firstRange returns the start of the first range of queries that sees any of the keys of the block that starts at j.
func (k *attentionGradient) firstRange(j int) int {
	if k.causal {
		return j / queryRange * queryRange
	}
	return 0
}

// after returns the lines of the block that follows the one of queries and keys that start at i and j, in this head or the next one.
func (k *attentionGradient) after(worker, head, i, j int) *lines {
	if i += queryRange; i >= k.t {
		j += keyBlock
		i = k.firstRange(j)
	}
	if j >= k.s || i >= k.t {
		head, i, j = head+1, 0, 0
	}
	if head == k.count {
		return nil
	}
	l := k.prefetch(worker, head, i, j)
	queries, keys := min(queryRange, k.t-i), min(keyBlock, k.s-j)
	out, dy := k.results(head)
	l.add(out.at(i), queries, k.e)
	l.add(dy.at(i), queries, k.e)
	dq, dk, dv := k.gradients(head)
	l.add(dq.at(i), queries, k.d)
	l.add(dk.at(j), keys, k.d)
	l.add(dv.at(j), keys, k.e)
	return l
}

// gradientSpace is a worker's workspace.
type gradientSpace struct {
	keys, values         []float32    // panels
	space                [3][]float32 // of copied rows
	keyRows, queries, dy matrix
	weights, slopes      []float32 // of queryRange queries
	edge, delta          []float32
	later                *lines
}

// queries computes the weights and slopes of m queries, starting at i, with the block of keys starting at first, and their part of
// the gradient of the queries.
func (k *attentionGradient) queries(w gradientSpace, head, i, m, first int, dq headRows) {
	vec := k.device.vectors
	mode := addResult
	if first == 0 {
		mode = 0
	}
	step := k.together(i, first)
	for r := 0; r < m; r += step {
		rows := min(step, m-r)
		n := k.seen(i+r+rows-1, first)
		if n == 0 {
			continue
		}
		weights, slopes := w.weights[r*scorePitch:], w.slopes[r*scorePitch:]
		k.product(weights, scorePitch, w.queries.from(r), w.keys, 0, rows, n, k.d, 0, w.edge, w.later)
		k.product(slopes, scorePitch, w.dy.from(r), w.values, 0, rows, n, k.e, 0, w.edge, w.later)
		factor := k.factor(weights, head, i+r, rows, first, n)
		block := k.block(i+r, rows, first, n)
		block.width = min(roundUp(n, step), k.s-first, keyBlock) // what someKeys reads
		vec.softmaxGradientRows(vec, weights, slopes, block, factor, k.scale, k.sums[head*k.t+i+r:], w.delta[i+r:])
		k.product(dq.from(i+r), dq.pitch, matrix{slopes, scorePitch, 1}, w.keyRows.data, w.keyRows.row, rows, k.d, n, mode, w.edge, w.later)
	}
}

// someKeys computes the part of m queries, starting at i, of the gradients of n keys and values: those from c on in the block that
// starts at first. It begins with the first queries that see any of the keys. With add, the gradients have parts of queries before.
func (k *attentionGradient) someKeys(w gradientSpace, i, m, first, c, n int, add bool, dk, dv headRows) {
	from, mode := 0, 0
	if k.causal {
		from = max(0, first+c-i)
	}
	if add {
		mode = addResult
	}
	if from >= m {
		if !add {
			dk.clear(first+c, n)
			dv.clear(first+c, n)
		}
		return
	}
	at := from*scorePitch + c
	k.product(dv.from(first+c), dv.pitch, matrix{w.weights[at:], 1, scorePitch}, w.dy.from(from).data, w.dy.row, n, k.e, m-from, mode, w.edge, w.later)
	k.product(dk.from(first+c), dk.pitch, matrix{w.slopes[at:], 1, scorePitch}, w.queries.from(from).data, w.queries.row, n, k.d, m-from, mode, w.edge, w.later)
}
