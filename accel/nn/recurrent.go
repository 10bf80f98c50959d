package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// RecurrentLayer is a recurrent network; [RNN], [LSTM] and [GRU] return it. Its parameters have
// PyTorch's names and layouts, such as weight_ih_l0 and bias_hh_l1_reverse.
type RecurrentLayer struct {
	lazyState
	options
	cell    ir.Cell
	hidden  int
	drop    *dropout // between layers; nil for none
	weights slotTensors
}

// NumLayers stacks n layers of an [RNN], [LSTM] or [GRU], each of which takes the outputs of the one before. The default is 1.
func NumLayers(n int) Option {
	return Option{option.New(func(o *options) { o.layers = n }, "NumLayers", n)}
}

// Bidirectional adds to each layer of an [RNN], [LSTM] or [GRU] one that runs from the last step to the first. The outputs of
// both are concatenated, so the width is 2·hidden.
func Bidirectional() Option {
	return Option{option.New(func(o *options) { o.directions = 2 }, "Bidirectional")}
}

// LayerDropout applies a [Dropout] to the outputs of each layer of an [RNN], [LSTM] or [GRU] but the last.
func LayerDropout(share float64) Option {
	return Option{option.New(func(o *options) { o.between = share }, "LayerDropout", share)}
}

// LastOutput makes Forward of an [RNN], [LSTM] or [GRU] return [N, hidden], the output of the last step instead of those of all
// steps; with [Bidirectional], [N, 2·hidden] with the output of each direction's own last step.
func LastOutput() Option { return Option{option.New(func(o *options) { o.last = true }, "LastOutput")} }

// WithReLU makes an [RNN] use max(x, 0) instead of tanh(x).
func WithReLU() Option { return Option{option.New(func(o *options) { o.relu = true }, "WithReLU")} }

// RNN returns a recurrent network (Elman, 1990) with hidden units: in each step, its state h
// becomes
//
//	tanh(W_ih·x + b_ih + W_hh·h + b_hh)
//
// Forward maps sequences [N, T, in] to the states of all steps, [N, T, hidden];
// [RecurrentLayer.Run] also takes an initial state and the lengths of padded sequences, and returns
// the final state. Initial weights and biases are uniform in ±1/√hidden, as in PyTorch's RNN. Options are
// [NumLayers], [Bidirectional], [LayerDropout], [LastOutput], [NoBias] and [WithReLU].
func RNN(hidden int, given ...Option) *RecurrentLayer {
	return newRecurrent(ir.TanhCell, hidden, given, "WithReLU")
}

// LSTM returns a long short-term memory (Hochreiter and Schmidhuber, 1997, with forget gates by
// Gers et al., 2000), PyTorch's LSTM, with the shapes and the initial weights of [RNN].
// [ir.LSTMCell] has its formulas. Options are those of RNN but [WithReLU].
func LSTM(hidden int, given ...Option) *RecurrentLayer {
	return newRecurrent(ir.LSTMCell, hidden, given)
}

// GRU returns a network of gated recurrent units (Cho et al., 2014), PyTorch's GRU, with the shapes
// and the initial weights of [RNN]. [ir.GRUCell] has its formulas. Options are those of RNN but
// [WithReLU].
func GRU(hidden int, given ...Option) *RecurrentLayer {
	return newRecurrent(ir.GRUCell, hidden, given)
}

func newRecurrent(cell ir.Cell, hidden int, given []Option, more ...string) *RecurrentLayer {
	l := &RecurrentLayer{cell: cell, hidden: hidden}
	takes := append([]string{"NumLayers", "Bidirectional", "LayerDropout", "LastOutput", "NoBias"}, more...)
	l.options = options{layers: 1, directions: 1}.read(l.name(), given, takes...)
	if l.relu {
		l.cell = ir.ReLUCell
	}
	if l.between != 0 {
		l.drop = &dropout{name: "LayerDropout", share: l.between}
	}
	l.weights = make(slotTensors, max(l.layers, 0)*l.directions*l.perDirection())
	return l
}

// perDirection returns the number of tensors of a layer in one direction.
func (l *RecurrentLayer) perDirection() int {
	if l.noBias {
		return 2
	}
	return 4
}

// RecurrentState is the state of a [RecurrentLayer], with one matrix for each layer and direction:
// those of the first layer come first, and forward comes before backward, as in PyTorch. nil stands
// for zeros.
type RecurrentState struct {
	H *Tensor // [layers·directions, N, hidden]
	C *Tensor // the same of an LSTM's second state; nil for RNN and GRU
}

// Forward maps sequences [N, T, in] to [N, T, hidden], or to [N, hidden] with [LastOutput]. It ignores
// the padding of data.Sequences.
func (l *RecurrentLayer) Forward(x *Tensor) *Tensor {
	y, final := l.Run(x, RecurrentState{}, paddedLengths(l.name(), x))
	if final.C != nil {
		final.C.Release()
	}
	if !l.last {
		final.H.Release()
		return y
	}
	y.Release()
	defer final.H.Release()
	n, units := x.Size(0), l.directions*l.hidden
	var s scratch
	defer s.release()
	top := s.keep(final.H.Slice(0, (l.layers-1)*l.directions, l.layers*l.directions))
	return s.keep(top.Permute(1, 0, 2)).Reshape(n, units)
}

// Run maps sequences x [N, T, in] to the outputs y of all steps, [N, T, hidden], and the final
// state. start is the state before the first step. lengths [N], of type int32, is the number of
// steps of each sequence; later ones are padding, where y is 0 and which the final state ignores,
// as with PyTorch's pack_padded_sequence. nil means that all T steps are valid. With
// [Bidirectional] y is [N, T, 2·hidden].
func (l *RecurrentLayer) Run(x *Tensor, start RecurrentState, lengths *Tensor) (y *Tensor, final RecurrentState) {
	l.check(x.Shape(), start)
	if l.weights[0] == nil {
		l.start(x.Size(2))
	}
	if in := l.weights[0].Size(1); x.Size(2) != in {
		panic(&tensor.ShapeError{Op: l.name(), Shapes: [][]int{x.Shape()}, Hint: fmt.Sprintf("expects %d inputs in each step but got %d", in, x.Size(2))})
	}
	var s scratch
	defer s.release()
	state := func(of *Tensor, i int) *Tensor {
		if of == nil {
			return nil
		}
		return s.keep(s.keep(of.Slice(0, i, i+1)).Reshape(x.Size(0), l.hidden))
	}
	y = s.keep(x.Permute(1, 0, 2))
	var finalH, finalC []*Tensor
	for layer := range l.layers {
		var outputs []*Tensor
		for direction := range l.directions {
			i := layer*l.directions + direction
			out, h, c := l.recurrence(&s, y, i, state(start.H, i), state(start.C, i), lengths)
			outputs, finalH = append(outputs, s.keep(out)), append(finalH, s.keep(h))
			if c != nil {
				finalC = append(finalC, s.keep(c))
			}
		}
		y = outputs[0]
		if l.directions == 2 {
			y = s.keep(tensor.Concat(2, outputs...))
		}
		if l.drop != nil && layer < l.layers-1 {
			if dropped := l.drop.Forward(y); dropped != y {
				y = s.keep(dropped)
			}
		}
	}
	final.H = tensor.Stack(0, finalH...)
	if finalC != nil {
		final.C = tensor.Stack(0, finalC...)
	}
	return y.Permute(1, 0, 2), final
}

// recurrence runs layer and direction i over x [T, N, in].
func (l *RecurrentLayer) recurrence(s *scratch, x *Tensor, i int, h, c, lengths *Tensor) (y, nextH, nextC *Tensor) {
	w := l.weights[i*l.perDirection():][:l.perDirection()]
	r := tensors.Recurrence[*tensor.Tensor]{Cell: l.cell, Weight: w[1], H: h, C: c, Lengths: lengths, Reverse: i%l.directions == 1}
	var bias *Tensor
	switch {
	case l.noBias:
	case l.cell == ir.GRUCell:
		bias, r.Bias = w[2], w[3]
	default:
		bias = s.keep(w[2].Add(w[3]))
	}
	r.X = s.keep(tensor.Linear(x, w[0], bias))
	return r.Run()
}

// check panics unless the layer can take an input of this shape and the state.
func (l *RecurrentLayer) check(shape []int, start RecurrentState) {
	hint := ""
	switch {
	case l.hidden < 1 || l.layers < 1:
		hint = fmt.Sprintf("%v must have at least one hidden unit and one layer", l)
	case len(shape) != 3 || shape[1] < 1 || shape[2] < 1:
		hint = "the input must be sequences [N, T, in] with at least one step"
	case start.C != nil && l.cell != ir.LSTMCell:
		hint = fmt.Sprintf("%v has no state C", l)
	}
	if hint != "" {
		panic(&tensor.ShapeError{Op: l.name(), Shapes: [][]int{shape}, Hint: hint})
	}
	want := []int{l.layers * l.directions, shape[0], l.hidden}
	for _, state := range []*Tensor{start.H, start.C} {
		if state != nil && fmt.Sprint(state.Shape()) != fmt.Sprint(want) {
			panic(&tensor.ShapeError{Op: l.name(), Shapes: [][]int{shape, state.Shape()}, Hint: fmt.Sprintf("the initial state must have the shape %v", want)})
		}
	}
}

// start creates the parameters for a number of inputs.
func (l *RecurrentLayer) start(in int) {
	bound := 1 / math.Sqrt(float64(l.hidden))
	for _, s := range l.slots() {
		shape := append([]int{}, s.shape...)
		if shape[len(shape)-1] < 0 {
			shape[len(shape)-1] = in
		}
		*s.at = tensor.Uniform(tensor.WeightGenerator(), -bound, bound, shape...)
		(*s.at).SetRequiresGrad(!l.frozen)
	}
}

func (l *RecurrentLayer) slots() []slot {
	rows := l.cell.Gates() * l.hidden
	var all []slot
	for i := range max(l.layers, 0) * l.directions {
		in := -1
		if i >= l.directions {
			in = l.directions * l.hidden
		}
		suffix := fmt.Sprintf("_l%d", i/l.directions)
		if i%l.directions == 1 {
			suffix += "_reverse"
		}
		at := l.weights[i*l.perDirection():]
		all = append(all,
			slot{name: "weight_ih" + suffix, at: &at[0], shape: []int{rows, in}, listed: true},
			slot{name: "weight_hh" + suffix, at: &at[1], shape: []int{rows, l.hidden}, listed: true})
		if !l.noBias {
			all = append(all,
				slot{name: "bias_ih" + suffix, at: &at[2], shape: []int{rows}, listed: true},
				slot{name: "bias_hh" + suffix, at: &at[3], shape: []int{rows}, listed: true})
		}
	}
	return all
}

func (l *RecurrentLayer) name() string {
	switch l.cell {
	case ir.LSTMCell:
		return "LSTM"
	case ir.GRUCell:
		return "GRU"
	}
	return "RNN"
}

// String returns the layer as Go code.
func (l *RecurrentLayer) String() string { return l.call(l.name(), l.hidden) }
