package cpu

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

var _ = implement[ir.Recurrent](newRecurrent)

// recurrence is the state that a recurrent layer and its gradient share. The sequences are
// independent, so a chunk is some of them: it runs through all steps without waiting for the
// others. The weight is packed once for all steps.
type recurrence struct {
	ir.RecurrentSizes
	device  *Device
	op      ir.Recurrent
	chunks  int
	lengths []int32 // nil for none

	// The matrix that the rows of each step are multiplied by, [depth, columns], in packed blocks.
	weight         matrix
	depth, columns int
	packing        bool
}

func newRecurrence(d *Device, op ir.Recurrent, s ir.RecurrentSizes, depth, columns, scratch int) recurrence {
	k := recurrence{RecurrentSizes: s, device: d, op: op, chunks: min(d.pool.size, s.Sequences), depth: depth, columns: columns}
	d.reserve(k.padded()*depth, maxTile+scratch)
	return k
}

// padded returns the number of columns in the packed weight.
func (k *recurrence) padded() int { return roundUp(k.columns, k.device.kernel.nr) }

// pack packs the panels of columns with this number.
func (k *recurrence) pack(panel int) {
	nr := k.device.kernel.nr
	left := panel * nr
	n := min(nr, k.columns-left)
	for from := 0; from < k.depth; from += kcMax {
		depth := min(kcMax, k.depth-from)
		at := from*k.padded() + left*depth
		k.device.kernel.packColumns(k.device.panel[at:], k.weight.data[from*k.weight.row+left*k.weight.col:], k.weight.row, k.weight.col, n, depth)
	}
}

// multiply computes the product of some rows and the weight, with mode addResult in addition to c.
func (k *recurrence) multiply(c []float32, ldc int, a []float32, row, rows, mode int, edge []float32) {
	for from := 0; from < k.depth; from += kcMax {
		k.device.multiply(panelProduct{c: c, ldc: ldc, a: a, row: row, step: 1, from: from, k: min(kcMax, k.depth-from),
			b: k.device.panel[from*k.padded():], rows: rows, cols: k.columns, mode: mode, edge: edge})
		mode = addResult
	}
}

// run packs the weight and then computes all chunks.
func (k *recurrence) run(t task) {
	if k.chunks == 0 {
		return
	}
	k.packing = true
	k.device.pool.run(k.padded()/k.device.kernel.nr, t)
	k.packing = false
	k.device.pool.run(k.chunks, t)
}

// sequences returns the sequences of a chunk.
func (k *recurrence) sequences(chunk int) (from, to int) {
	return k.Sequences * chunk / k.chunks, k.Sequences * (chunk + 1) / k.chunks
}

// step returns the step with index i in the order of computation, and the indices of the states
// before and after it.
func (k *recurrence) step(i int) (t, before, after int) {
	if k.op.Reverse {
		t = k.Steps - 1 - i
		return t, t + 1, t
	}
	return i, i, i + 1
}

// row returns a state after one step, for one sequence; state is 0 for h and 1 for c.
func (k *recurrence) row(all []float32, state, at, sequence int) []float32 {
	return all[((state*(k.Steps+1)+at)*k.Sequences+sequence)*k.Hidden:][:k.Hidden]
}

// saved returns the gates in the result, from a step and a sequence on.
func (k *recurrence) saved(all []float32, t, sequence int) []float32 {
	return all[(k.Steps+1)*k.States*k.Sequences*k.Hidden+(t*k.Sequences+sequence)*k.Saved:]
}

// round rounds to the type of the factors.
func (k *recurrence) round(x []float32) {
	switch k.op.Factor {
	case ir.BFloat16:
		for i, v := range x {
			x[i] = tensortype.BFloat16Value(tensortype.BFloat16Bits(v))
		}
	case ir.Float16:
		for i, v := range x {
			x[i] = tensortype.Float16Value(tensortype.Float16Bits(v))
		}
	}
}

// padding reports whether a sequence has ended before a step.
func (k *recurrence) padding(t, sequence int) bool {
	return k.lengths != nil && t >= int(k.lengths[sequence])
}

// recurrent computes the states.
type recurrent struct {
	recurrence
	in, out         []ir.Operand
	x, h, more, all []float32 // more is c or the bias
}

func newRecurrent(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Recurrent)
	sizes := op.Sizes(s.In[0].Shape, s.In[1].Shape)
	return &recurrent{recurrence: newRecurrence(d, op, sizes, sizes.Hidden, sizes.Inputs, sizes.Hidden), in: s.In, out: s.Out}, nil
}

func (k *recurrent) run(p *program) error {
	k.x, k.h, k.all = elements[float32](p, k.in[0]), elements[float32](p, k.in[2]), elements[float32](p, k.out[0])
	rest := k.in[3:]
	if k.op.Cell == ir.LSTMCell || k.op.Cell == ir.GRUCell {
		k.more, rest = elements[float32](p, rest[0]), rest[1:]
	}
	if len(rest) > 0 {
		k.lengths = elements[int32](p, rest[0])
	}
	k.weight = matrix{data: elements[float32](p, k.in[1]), row: 1, col: k.Hidden}
	k.recurrence.run(k)
	k.x, k.h, k.more, k.all, k.lengths, k.weight.data = nil, nil, nil, nil, nil, nil
	return nil
}

func (k *recurrent) work(chunk, worker int) {
	if k.packing {
		k.pack(chunk)
		return
	}
	from, to := k.sequences(chunk)
	edge, spare := k.device.scratch[worker][:maxTile], k.device.scratch[worker][maxTile:][:k.Hidden]
	_, first, _ := k.step(0)
	for n := from; n < to; n++ {
		copy(k.row(k.all, 0, first, n), k.h[n*k.Hidden:])
		k.round(k.row(k.all, 0, first, n))
		if k.op.Cell == ir.LSTMCell {
			copy(k.row(k.all, 1, first, n), k.more[n*k.Hidden:])
		}
	}
	for i := range k.Steps {
		t, before, after := k.step(i)
		mode := 0
		if k.op.Cell != ir.LSTMCell {
			mode = addResult
			for n := from; n < to; n++ {
				k.begin(t, after, n)
			}
		}
		c, ldc := k.all[(after*k.Sequences+from)*k.Hidden:], k.Hidden
		if k.Saved > 0 {
			c, ldc = k.saved(k.all, t, from), k.Saved
		}
		k.multiply(c, ldc, k.all[(before*k.Sequences+from)*k.Hidden:], k.Hidden, to-from, mode, edge)
		for n := from; n < to; n++ {
			k.end(t, before, after, n, spare)
		}
	}
}

// begin writes what the product of weight and state is added to, except for an LSTMCell.
func (k *recurrent) begin(t, after, n int) {
	x := k.x[(t*k.Sequences+n)*k.Inputs:][:k.Inputs]
	switch k.op.Cell {
	case ir.GRUCell: // the input's part of n is added at the end
		gates, two := k.saved(k.all, t, n), 2*k.Hidden
		k.device.vectors.add(gates[:two], x[:two], k.more[:two])
		copy(gates[two:], k.more[two:])
	default:
		copy(k.row(k.all, 0, after, n), x)
	}
}

// end computes the next state from the gates.
func (k *recurrent) end(t, before, after, n int, spare []float32) {
	v, size := k.device.vectors, k.Hidden
	h, next := k.row(k.all, 0, before, n), k.row(k.all, 0, after, n)
	switch k.op.Cell {
	case ir.TanhCell:
		v.tanh(next, next)
	case ir.ReLUCell:
		v.relu(next, next)
	case ir.LSTMCell:
		c, nextC := k.row(k.all, 1, before, n), k.row(k.all, 1, after, n)
		v.lstm(v, k.saved(k.all, t, n), k.x[(t*k.Sequences+n)*k.Inputs:][:k.Inputs], c, nextC, next)
		if k.padding(t, n) {
			copy(nextC, c)
		}
	case ir.GRUCell:
		g := k.saved(k.all, t, n)[:k.Saved]
		v.sigmoid(g[:2*size], g[:2*size])
		v.mul(spare, g[:size], g[2*size:3*size])
		v.add(spare, spare, k.x[(t*k.Sequences+n)*k.Inputs+2*size:][:size])
		v.tanh(g[3*size:], spare)
		v.sub(spare, h, g[3*size:])
		v.mul(spare, spare, g[size:2*size])
		v.add(next, g[3*size:], spare)
	}
	if k.padding(t, n) {
		copy(next, h)
	} else {
		k.round(next)
	}
}

func lstmComposed(v *vectors, gates, x, before, cell, next []float32) {
	n := len(next)
	v.add(gates[:4*n], gates[:4*n], x[:4*n])
	v.sigmoid(gates[:2*n], gates[:2*n])
	v.tanh(gates[2*n:3*n], gates[2*n:3*n])
	v.sigmoid(gates[3*n:4*n], gates[3*n:4*n])
	v.mul(cell, gates[n:2*n], before)
	v.mul(next, gates[:n], gates[2*n:3*n])
	v.add(cell, cell, next)
	v.tanh(next, cell)
	v.mul(next, gates[3*n:4*n], next)
}
