package ir

// Cell says how a recurrent layer computes its next state; package tensor documents the cells.
type Cell uint8

// The cells of PyTorch's RNN, LSTM and GRU.
const (
	TanhCell Cell = iota
	ReLUCell
	LSTMCell
	GRUCell
)

// Gates returns the number of gates, 1 for a cell without gates.
func (c Cell) Gates() int {
	switch c {
	case LSTMCell:
		return 4
	case GRUCell:
		return 3
	}
	return 1
}

// Recurrent computes all T steps of a recurrent layer for N sequences and H hidden units. The
// inputs are
//
//	x [T, N, gates·H]   the input's part of the gates
//	w [gates·H, H]      the weight of the previous state
//	h [N, H]            the initial state
//	c [N, H] of an LSTMCell, or the bias [gates·H] of the previous state of a GRUCell
//	lengths [N]         optional: int32, the number of steps of each sequence
//
// A step after the length of its sequence, or before it in reverse, leaves the state as it is.
//
// The result is flat: the states h [T+1, N, H], of an LSTMCell also c [T+1, N, H], and then the
// gates that the gradient needs. The initial states come first or, in reverse, last.
//
// It has no composition here: package tensor records the steps as other ops, for float64, for mixed types and for
// exports, and their gradient is that of those ops. A Compose would need the gradient of each cell a second time.
type Recurrent struct {
	wholeOp
	Cell    Cell
	Reverse bool

	// Factor is the type to which the states h and the gradients of the gates are rounded, which are
	// multiplied by the weight: float32, which rounds nothing, or 16-bit floats for tensor cores. All
	// else is computed in float32.
	Factor DType
}

func (Recurrent) Name() string       { return "Recurrent" }
func (Recurrent) Autocast() Autocast { return Cast16Bit }
func (Recurrent) noONNX() string     { return "it is computed step by step while a model is traced" }

// AppendKey appends the parameters.
func (o Recurrent) AppendKey(key []byte) []byte {
	return appendFlag(append(key, byte(o.Cell), byte(o.Factor)), o.Reverse)
}

// rounded returns a value that has been rounded to Factor, as a factor of that type.
func (o Recurrent) rounded(r *Recorder, v *Value) *Value {
	return r.as(r.as(v, o.Factor), Float32)
}

// states returns the states h of a result, those of consecutive steps from one on. They are rounded to Factor.
// Products read them, and so does what is behind the layer, those of a step earlier and later: rounding all of them
// at once serves both.
func (o Recurrent) states(r *Recorder, out *Value, s RecurrentSizes, from int, shape []int) *Value {
	all := r.as(r.part(out, 0, []int{(s.Steps + 1) * s.state()}), o.Factor)
	return r.part(all, from*s.state(), shape)
}

func (Recurrent) multiplyAdds(in [][]int, _ []int) int { return Len(in[0]) * last(in[1]) }

// RecurrentSizes are the sizes of a Recurrent.
type RecurrentSizes struct {
	Steps, Sequences, Hidden int
	Inputs                   int // gates·H
	Saved                    int // elements that the gates of a step and sequence occupy in the result
	States                   int // states of a step: 2 with c, else 1
	Slopes                   int // elements that their gradients occupy
}

// Sizes returns the sizes for x and w of these shapes.
func (o Recurrent) Sizes(x, w []int) RecurrentSizes {
	s := RecurrentSizes{Steps: x[0], Sequences: x[1], Hidden: w[1], Inputs: w[0], States: 1, Slopes: w[0]}
	switch o.Cell {
	case LSTMCell:
		s.Saved, s.States = w[0], 2
	case GRUCell: // r, z, the previous state's part of n, and n
		s.Saved, s.Slopes = 4*w[1], 4*w[1]
	}
	return s
}

// state returns the number of elements of the state after one step.
func (s RecurrentSizes) state() int { return s.Sequences * s.Hidden }

// lengths returns the index of the optional input lengths.
func (o Recurrent) lengths() int {
	if o.Cell == LSTMCell || o.Cell == GRUCell {
		return 4
	}
	return 3
}

// Infer returns the number of elements of the states and the gates.
func (o Recurrent) Infer(in []*Value) (Type, error) {
	n := o.lengths()
	if err := wantFloat32(in[:n]...); err != nil {
		return Type{}, err
	}
	if len(in) > n && in[n].dtype != Int32 {
		return Type{}, &DTypeError{Hint: "the lengths must be int32: lengths.Cast(tensor.Int32) converts them"}
	}
	x, w := in[0].shape, in[1].shape
	wrong := &ShapeError{Hint: "x [T N gates·H], w [gates·H H], h [N H], c [N H] or the bias [gates·H], and lengths [N] are needed"}
	if len(x) != 3 || len(w) != 2 || x[0] < 1 || w[0] != o.Cell.Gates()*w[1] || x[2] != w[0] {
		return Type{}, wrong
	}
	s := o.Sizes(x, w)
	state := []int{s.Sequences, s.Hidden}
	switch {
	case !sameShape(in[2].shape, state),
		o.Cell == LSTMCell && !sameShape(in[3].shape, state),
		o.Cell == GRUCell && !sameShape(in[3].shape, w[:1]),
		len(in) > n && !sameShape(in[n].shape, state[:1]):
		return Type{}, wrong
	}
	return Type{[]int{(s.Steps+1)*s.States*s.state() + s.Steps*s.Sequences*s.Saved}, Float32}, nil
}

// Gradient runs through the steps in the other direction for the gradients of the gates and of the
// initial state. That of w is one matrix multiplication of all gates with all previous states.
func (o Recurrent) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	s := o.Sizes(in[0].shape, in[1].shape)
	g := RecurrentGradient{Recurrent: o, Steps: s.Steps, Sequences: s.Sequences}
	if p, ok := dy.op.(Pad); ok { // drop the zeros for what has no gradient
		g.From, dy = p.Before, dy.in[0]
	}
	all := r.Record(g, append([]*Value{out, in[1], dy}, in[o.lengths():]...)...)
	rows := s.Steps * s.Sequences
	slopes := o.rounded(r, r.part(all, 0, []int{rows, s.Slopes}))
	grads := make([]*Value, len(in))
	end := rows * s.Slopes
	grads[2] = r.part(all, end, in[2].shape)
	ofState, ofInput := slopes, slopes
	switch o.Cell {
	case LSTMCell:
		grads[3] = r.part(all, end+s.state(), in[3].shape)
	case GRUCell:
		ofState = r.Record(Slice{Axis: 1, From: 0, To: s.Inputs}, slopes)
		if wants[0] {
			ofInput = r.Record(Concat{Axis: 1}, r.Record(Slice{Axis: 1, From: 0, To: 2 * s.Hidden}, slopes),
				r.Record(Slice{Axis: 1, From: s.Inputs, To: s.Slopes}, slopes))
		}
		if wants[3] {
			grads[3] = r.Record(Sum{From: 0, To: 1}, ofState)
		}
	}
	if wants[0] {
		grads[0] = r.Reshape(ofInput, in[0].shape)
	}
	if wants[1] {
		before := 0
		if o.Reverse {
			before = 1
		}
		grads[1] = r.Record(MatMul{}, r.swapLast(ofState), r.as(o.states(r, out, s, before, []int{rows, s.Hidden}), Float32))
	}
	return grads
}

// Recurrent records all steps of a recurrent layer. It returns the states after each step, [T, N,
// H], rounded to Factor, and the final state c [N, H] of an LSTMCell, else nil.
func (r *Recorder) Recurrent(o Recurrent, in ...*Value) (h, c *Value) {
	flat := r.Record(o, in...)
	s := o.Sizes(in[0].shape, in[1].shape)
	first, final := 1, s.Steps*s.state()
	if o.Reverse {
		first, final = 0, 0
	}
	h = o.states(r, flat, s, first, []int{s.Steps, s.Sequences, s.Hidden})
	if o.Cell == LSTMCell {
		c = r.part(flat, (s.Steps+1)*s.state()+final, in[2].shape)
	}
	return h, c
}

// RecurrentGradient computes the gradients of the gates [T, N, gates·H] and of the initial states
// from Recurrent's result, w, the gradient of the result, and the optional lengths. Those of a
// GRUCell are [T, N, 4·H]: of r, z, the previous state's part of n, and the input's part of n. It has no composition, as
// [Recurrent] has none.
type RecurrentGradient struct {
	gradientOp
	Recurrent
	Steps, Sequences int
	From             int // the first element of the result that the gradient is for; it is 0 elsewhere
}

func (RecurrentGradient) Name() string { return "RecurrentGradient" }

// AppendKey appends the sizes, which the shapes of the inputs do not determine.
func (o RecurrentGradient) AppendKey(key []byte) []byte {
	return appendInts(o.Recurrent.AppendKey(key), o.Steps, o.Sequences, o.From)
}

func (o RecurrentGradient) multiplyAdds(in [][]int, _ []int) int {
	return o.Steps * o.Sequences * Len(in[1])
}

// Infer returns the number of elements of the gradients.
func (o RecurrentGradient) Infer(in []*Value) (Type, error) {
	s := o.Sizes([]int{o.Steps, o.Sequences, in[1].shape[0]}, in[1].shape)
	return Type{[]int{s.Steps*s.Sequences*s.Slopes + s.States*s.state()}, Float32}, nil
}
