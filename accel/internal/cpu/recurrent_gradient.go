package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.RecurrentGradient](newRecurrentGradient)

// recurrentGradient computes the gradients of the gates, from the last step to the first. The
// gradients of the state in progress are where those of the initial state will be.
type recurrentGradient struct {
	recurrence
	in, out         []ir.Operand
	from            int       // the first element that dy is for
	all, dy, slopes []float32 // Recurrent's result, its gradient, those of the gates
	dh, dc          []float32
}

func newRecurrentGradient(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.RecurrentGradient)
	sizes := op.Sizes([]int{op.Steps, op.Sequences, s.In[1].Shape[0]}, s.In[1].Shape)
	return &recurrentGradient{recurrence: newRecurrence(d, op.Recurrent, sizes, sizes.Inputs, sizes.Hidden, 2*sizes.Hidden), in: s.In, out: s.Out, from: op.From}, nil
}

func (k *recurrentGradient) run(p *program) error {
	k.all, k.dy, k.slopes = elements[float32](p, k.in[0]), elements[float32](p, k.in[2]), elements[float32](p, k.out[0])
	if len(k.in) > 3 {
		k.lengths = elements[int32](p, k.in[3])
	}
	k.weight = matrix{data: elements[float32](p, k.in[1]), row: k.Hidden, col: 1}
	k.dh = k.slopes[k.Steps*k.Sequences*k.Slopes:]
	k.dc = k.dh[k.Sequences*k.Hidden:]
	clear(k.dh)
	k.recurrence.run(k)
	k.all, k.dy, k.slopes, k.dh, k.dc, k.lengths, k.weight.data = nil, nil, nil, nil, nil, nil, nil
	return nil
}

func (k *recurrentGradient) work(chunk, worker int) {
	if k.packing {
		k.pack(chunk)
		return
	}
	from, to := k.sequences(chunk)
	scratch := k.device.scratch[worker]
	edge, first, second := scratch[:maxTile], scratch[maxTile:][:k.Hidden], scratch[maxTile+k.Hidden:][:k.Hidden]
	for i := k.Steps - 1; i >= 0; i-- {
		t, before, after := k.step(i)
		for n := from; n < to; n++ {
			k.gates(t, before, after, n, first, second)
		}
		k.multiply(k.dh[from*k.Hidden:], k.Hidden, k.slopes[(t*k.Sequences+from)*k.Slopes:], k.Slopes, to-from, addResult, edge)
	}
}

// slope returns the gradient of a state after one step, nil for 0.
func (k *recurrentGradient) slope(state, at, sequence int) []float32 {
	first := ((state*(k.Steps+1)+at)*k.Sequences+sequence)*k.Hidden - k.from
	if first < 0 || first+k.Hidden > len(k.dy) {
		return nil
	}
	return k.dy[first:][:k.Hidden]
}

// gates computes the gradients of the gates of a step for one sequence, and that part of the
// previous state's gradient that does not come through the gates.
func (k *recurrentGradient) gates(t, before, after, n int, first, second []float32) {
	v, size := k.device.vectors, k.Hidden
	slopes := k.slopes[(t*k.Sequences+n)*k.Slopes:][:k.Slopes]
	dh := k.dh[n*size:][:size]
	if dy := k.slope(0, after, n); dy != nil {
		v.add(dh, dh, dy)
	}
	if k.States == 2 {
		if dy := k.slope(1, after, n); dy != nil {
			v.add(k.dc[n*size:][:size], k.dc[n*size:][:size], dy)
		}
	}
	if k.padding(t, n) {
		clear(slopes)
		return
	}
	next := k.row(k.all, 0, after, n)
	switch k.op.Cell {
	case ir.TanhCell:
		oneMinusSquare(v, slopes, next)
		v.mul(slopes, slopes, dh)
		clear(dh)
	case ir.ReLUCell:
		v.reluGradient(slopes, dh, next)
		clear(dh)
	case ir.LSTMCell:
		v.lstmGradient(v, slopes, k.saved(k.all, t, n), k.row(k.all, 1, before, n), k.row(k.all, 1, after, n), dh, k.dc[n*size:][:size])
	case ir.GRUCell:
		k.gru(t, before, n, slopes, dh, first, second)
	}
	k.round(slopes)
}

// lstmGradientComposed uses the slopes, and dh at the end, for what is not final.
func lstmGradientComposed(v *vectors, slopes, gates, before, cell, dh, dc []float32) {
	n := len(dh)
	part := func(of []float32, i int) []float32 { return of[i*n:][:n] }
	in, forget, candidate, out := part(gates, 0), part(gates, 1), part(gates, 2), part(gates, 3)
	dIn, dForget, dCandidate, dOut := part(slopes, 0), part(slopes, 1), part(slopes, 2), part(slopes, 3)
	v.tanh(dIn, cell)
	v.mul(dForget, dh, dIn)
	sigmoidSlope(v, dOut, out)
	v.mul(dOut, dOut, dForget)

	oneMinusSquare(v, dIn, dIn)
	v.mul(dh, dh, out)
	v.mul(dIn, dIn, dh)
	v.add(dc, dc, dIn)

	sigmoidSlope(v, dIn, in)
	v.mul(dForget, dc, candidate)
	v.mul(dIn, dIn, dForget)
	sigmoidSlope(v, dForget, forget)
	v.mul(dCandidate, dc, before)
	v.mul(dForget, dForget, dCandidate)
	oneMinusSquare(v, dCandidate, candidate)
	v.mul(dh, dc, in)
	v.mul(dCandidate, dCandidate, dh)
	v.mul(dc, dc, forget)
	clear(dh)
}

// gru is gates of a GRUCell, whose next state is n + z·(before - n) with n = tanh(x + r·part).
func (k *recurrentGradient) gru(t, before, n int, slopes, dh, first, second []float32) {
	v, size := k.device.vectors, k.Hidden
	gates := k.saved(k.all, t, n)
	part := func(of []float32, i int) []float32 { return of[i*size:][:size] }
	reset, update, ofState, candidate := part(gates, 0), part(gates, 1), part(gates, 2), part(gates, 3)
	v.sub(first, k.row(k.all, 0, before, n), candidate)
	v.mul(first, first, dh)
	sigmoidSlope(v, part(slopes, 1), update)
	v.mul(part(slopes, 1), part(slopes, 1), first)

	v.mul(second, dh, update) // what z passes on
	v.sub(first, dh, second)
	oneMinusSquare(v, part(slopes, 3), candidate)
	v.mul(part(slopes, 3), part(slopes, 3), first)
	copy(dh, second)

	v.mul(part(slopes, 2), part(slopes, 3), reset)
	sigmoidSlope(v, part(slopes, 0), reset)
	v.mul(first, part(slopes, 3), ofState)
	v.mul(part(slopes, 0), part(slopes, 0), first)
}

// sigmoidSlope is d = y·(1-y), the derivative of a sigmoid with the result y.
func sigmoidSlope(v *vectors, d, y []float32) { v.weigh(d, y, y, -1, -1) }

// oneMinusSquare is d = 1-y², the derivative of a hyperbolic tangent with the result y.
func oneMinusSquare(v *vectors, d, y []float32) {
	v.blendSquare(d, y, y, y, &foldScalars{0, -1, 1, 0})
}
