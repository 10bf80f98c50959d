package kernels

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type recurrentSizes struct {
	Sequences, Hidden, Wide, Step uint32
	Lengths                       Pointer
}

type recurrentParams struct {
	Forward recurrentForward
}

type recurrentForward struct {
	X, Weight, Before, After, H, More, NextH, NextC, Saved Pointer
	Size                                                   recurrentSizes
	Kind, ReLU                                             uint32
}

type recurrentSlope struct {
	DY           Pointer
	First, Count int64
	Kind, _      uint32
}

type recurrentGradientParams struct {
	Backward recurrentBackward
}

type recurrentBackward struct {
	Later, Weight, Factors, DH, DC, Slopes, Saved, H, C, NextH, NextC Pointer
	DY                                                                recurrentSlope
	RowH, RowC                                                        int64
	Size                                                              recurrentSizes
	ReLU, Depth                                                       uint32
}

type recurrentStateParams struct {
	To, Factors, From                    Pointer
	Kind, Sequences, Hidden, Wide, Round uint32
}

type recurrentWeightParams struct {
	To, From                              Pointer
	Kind, Gates, Hidden, Wide, Transposed uint32
}

// recurrentTypes are the variants, by the type of the factors of a step's matrix multiplication.
var recurrentTypes = []string{"f32", "bf16", "f16"}

var (
	recurrentPlain         = declare[recurrentParams]("recurrent", "recurrent_plain", recurrentTypes, 256)
	recurrentLSTM          = declare[recurrentParams]("recurrent", "recurrent_lstm", recurrentTypes, 256)
	recurrentGRU           = declare[recurrentParams]("recurrent", "recurrent_gru", recurrentTypes, 256)
	recurrentPlainGradient = declare[recurrentGradientParams]("recurrent", "recurrent_plain_gradient", recurrentTypes, 256)
	recurrentLSTMGradient  = declare[recurrentGradientParams]("recurrent", "recurrent_lstm_gradient", recurrentTypes, 256)
	recurrentGRUGradient   = declare[recurrentGradientParams]("recurrent", "recurrent_gru_gradient", recurrentTypes, 256)
	recurrentInitial       = declare[recurrentGradientParams]("recurrent", "recurrent_initial", recurrentTypes, 256)
	recurrentState         = declare[recurrentStateParams]("recurrent", "recurrent_state", recurrentTypes, 256)
	recurrentWeight        = declare[recurrentWeightParams]("recurrent", "recurrent_weight", recurrentTypes, 256)
)

func init() {
	register(planRecurrent)
	register(planRecurrentGradient)
}

// Recurrent is ir.Recurrent and its gradient: one launch for each step. A matrix multiplication has
// factors of the type Factor, whose rows have wide elements for each gate, the last of them 0.
type Recurrent struct {
	ir.RecurrentSizes
	Cell    ir.Cell
	Reverse bool
	Factor  tensortype.DType
	X, W    tensortype.DType // as stored, W in the gradient as well
}

func (o Recurrent) variant() string {
	if o.Factor == tensortype.Float32 {
		return "f32"
	}
	return tensorType(o.Factor)
}

// wide is Hidden, rounded up to what one warp multiplies at a time.
func (o Recurrent) wide() int { return ceil(o.Hidden, 32) * 32 }

// state returns the number of elements of a state.
func (o Recurrent) state() int { return o.Sequences * o.Hidden }

// factors returns the number of bytes of factors with a number of rows of gates.
func (o Recurrent) factors(rows, gates int) int { return rows * gates * o.wide() * o.Factor.Size() }

func (o Recurrent) sizes(t int, lengths Pointer) recurrentSizes {
	return recurrentSizes{uint32(o.Sequences), uint32(o.Hidden), uint32(o.wide()), uint32(t), lengths}
}

// grid has a block for 8 units of 32 sequences.
func (o Recurrent) grid() driver.Dim {
	return driver.Dim{X: uint32(o.wide() / 8), Y: uint32(ceil(o.Sequences, 32)), Z: 1}
}

// step returns the step with index i in the order of computation, and the indices of the states
// before and after it.
func (o Recurrent) step(i int) (t, before, after int) {
	if o.Reverse {
		t = o.Steps - 1 - i
		return t, t + 1, t
	}
	return i, i, i + 1
}

// at returns a state after one step; state is 0 for h and 1 for c.
func (o Recurrent) at(all Pointer, state, step int) Pointer {
	return all + Pointer(4*(state*(o.Steps+1)+step)*o.state())
}

// saved returns the gates of a step in the result.
func (o Recurrent) saved(all Pointer, t int) Pointer {
	return o.at(all, o.States, 0) + Pointer(4*t*o.Sequences*o.Saved)
}

func (o Recurrent) relu() uint32 { return flag(o.Cell == ir.ReLUCell) }

// Workspace returns the size of the workspace of Launches: the weight, and two states.
func (o Recurrent) Workspace() int {
	return o.factors(o.Inputs, 1) + 2*o.factors(o.Sequences, 1)
}

// Launches computes all steps. more is the initial state c of an LSTMCell or the bias of a
// GRUCell; lengths may be 0.
func (o Recurrent) Launches(all, x, w, h, more, lengths, work Pointer) []Launch {
	if o.state() == 0 {
		return nil
	}
	v, gates := o.variant(), o.Cell.Gates()
	states := work + Pointer(o.factors(o.Inputs, 1))
	factor := func(step int) Pointer { return states + Pointer(step%2*o.factors(o.Sequences, 1)) }
	_, first, _ := o.step(0)
	var out []Launch
	weight := w
	if o.W != o.Factor || o.Hidden != o.wide() || w%16 != 0 {
		weight = work
		out = append(out, recurrentWeight.launch(v, linear(o.Inputs*o.wide()), recurrentWeightParams{work, w, kind(o.W), uint32(gates), uint32(o.Hidden), uint32(o.wide()), 0}))
	}
	start := recurrentStateParams{o.at(all, 0, first), factor(first), h, 0, uint32(o.Sequences), uint32(o.Hidden), uint32(o.wide()), 1}
	out = append(out, recurrentState.launch(v, linear(o.Sequences*o.wide()), start))
	if o.Cell == ir.LSTMCell {
		start.To, start.Factors, start.From, start.Round = o.at(all, 1, first), 0, more, 0
		out = append(out, recurrentState.launch(v, linear(o.Sequences*o.wide()), start))
	}
	for i := range o.Steps {
		t, before, after := o.step(i)
		p := recurrentForward{X: x + Pointer(t*o.Sequences*o.Inputs*o.X.Size()), Weight: weight, Before: factor(before), After: factor(after),
			H: o.at(all, 0, before), More: more, NextH: o.at(all, 0, after), Saved: o.saved(all, t), Size: o.sizes(t, lengths), Kind: kind(o.X), ReLU: o.relu()}
		k := recurrentPlain
		switch o.Cell {
		case ir.LSTMCell:
			k, p.More, p.NextC = recurrentLSTM, o.at(all, 1, before), o.at(all, 1, after)
		case ir.GRUCell:
			k = recurrentGRU
		}
		out = append(out, k.grid(v, o.grid(), 0, recurrentParams{p}))
	}
	return out
}

// kept returns how many gates the weight is multiplied by.
func (o Recurrent) kept() int { return o.Cell.Gates() }

// GradientWorkspace returns the size of the workspace of Gradient: the transposed weight, and the
// gradients of the gates of two steps.
func (o Recurrent) GradientWorkspace() int {
	return o.factors(o.Hidden, o.kept()) + 2*o.factors(o.Sequences, o.kept())
}

// Gradient computes the gradients of the gates and of the initial states. dy, of a type and of count
// elements, is that of the result from element from on.
func (o Recurrent) Gradient(slopes, all, w, dy Pointer, d tensortype.DType, from, count int, lengths, work Pointer) []Launch {
	if o.state() == 0 {
		return nil
	}
	v, gates := o.variant(), o.kept()
	rows := work + Pointer(o.factors(o.Hidden, gates))
	factor := func(i int) Pointer { return rows + Pointer(i%2*o.factors(o.Sequences, gates)) }
	out := []Launch{recurrentWeight.launch(v, linear(o.Hidden*gates*o.wide()), recurrentWeightParams{work, w, kind(o.W), uint32(gates), uint32(o.Hidden), uint32(o.wide()), 1})}
	end := slopes + Pointer(4*o.Steps*o.Sequences*o.Slopes)
	p := recurrentBackward{Weight: work, DH: end, DC: end + Pointer(4*o.state()), DY: recurrentSlope{DY: dy, First: int64(from), Count: int64(count), Kind: kind(d)},
		ReLU: o.relu(), Depth: uint32(gates * o.wide())}
	k := recurrentPlainGradient
	switch o.Cell {
	case ir.LSTMCell:
		k = recurrentLSTMGradient
	case ir.GRUCell:
		k = recurrentGRUGradient
	}
	for i := o.Steps - 1; i >= 0; i-- {
		t, before, after := o.step(i)
		p.Factors, p.Slopes, p.Saved, p.Size = factor(i), slopes+Pointer(4*t*o.Sequences*o.Slopes), o.saved(all, t), o.sizes(t, lengths)
		p.H, p.C, p.NextH, p.NextC = o.at(all, 0, before), o.at(all, 1, before), o.at(all, 0, after), o.at(all, 1, after)
		p.RowH, p.RowC = int64(after*o.state()), int64((o.Steps+1+after)*o.state())
		out = append(out, k.grid(v, o.grid(), 0, recurrentGradientParams{p}))
		p.Later = p.Factors
	}
	p.Factors, p.DY = 0, recurrentSlope{}
	return append(out, recurrentInitial.grid(v, o.grid(), 0, recurrentGradientParams{p}))
}

func planRecurrent(p Planner, op ir.Recurrent, s ir.Step) Launcher {
	o := Recurrent{op.Sizes(s.In[0].Shape, s.In[1].Shape), op.Cell, op.Reverse, op.Factor, s.In[0].DType, s.In[1].DType}
	p.NeedWorkspace(o.Workspace())
	more := op.Cell == ir.LSTMCell || op.Cell == ir.GRUCell
	return func(a Addresses) ([]Launch, error) {
		if more {
			return o.Launches(a.Out[0], a.In[0], a.In[1], a.In[2], a.In[3], a.Optional(4), a.Work), nil
		}
		return o.Launches(a.Out[0], a.In[0], a.In[1], a.In[2], 0, a.Optional(3), a.Work), nil
	}
}

func planRecurrentGradient(p Planner, op ir.RecurrentGradient, s ir.Step) Launcher {
	w, dy := s.In[1], s.In[2]
	sizes := op.Sizes([]int{op.Steps, op.Sequences, w.Shape[0]}, w.Shape)
	o := Recurrent{RecurrentSizes: sizes, Cell: op.Cell, Reverse: op.Reverse, Factor: op.Factor, W: w.DType}
	p.NeedWorkspace(o.GradientWorkspace())
	return func(a Addresses) ([]Launch, error) {
		return o.Gradient(a.Out[0], a.In[0], a.In[1], a.In[2], dy.DType, op.From, ir.Len(dy.Shape), a.Optional(3), a.Work), nil
	}
}
