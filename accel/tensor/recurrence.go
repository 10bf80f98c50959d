package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// recurrence computes a [tensors.Recurrence].
type recurrence tensors.Recurrence[*Tensor]

func (r recurrence) run() (y, h, c *Tensor) {
	r.check()
	if factor, ok := r.factor(); ok {
		return r.whole(factor)
	}
	return r.steps()
}

// factor returns the type that the states have as factors, and whether devices compute all steps in
// one op. float64, mixed types outside of Autocast, and exports are computed step by step.
func (r *recurrence) factor() (d DType, ok bool) {
	cast, tracing := Float32, false
	locked(func(rec *ir.Recorder) { cast, tracing = shared().current.cast, rec.Tracing() })
	if tracing {
		return Float32, false
	}
	d = r.X.DType()
	for _, t := range []*Tensor{r.X, r.Weight, r.Bias, r.H, r.C} {
		if t == nil {
			continue
		}
		if of := t.DType(); of != Float32 && !of.Is16Bit() || of != d && cast == Float32 {
			return Float32, false
		}
	}
	if cast != Float32 {
		d = cast
	}
	return d, true
}

// whole computes the recurrence in one op.
func (r *recurrence) whole(factor DType) (y, h, c *Tensor) {
	steps, sequences, hidden := r.sizes()
	state := []int{sequences, hidden}
	given, zeros := []*Tensor{r.X, r.Weight, r.H}, [][]int{nil, nil, state}
	switch r.Cell {
	case ir.LSTMCell:
		given, zeros = append(given, r.C), append(zeros, state)
	case ir.GRUCell:
		given, zeros = append(given, r.Bias), append(zeros, []int{3 * hidden})
	}
	if r.Lengths != nil {
		given, zeros = append(given, r.Lengths), append(zeros, nil)
	}
	op := ir.Recurrent{Cell: r.Cell, Reverse: r.Reverse, Factor: factor}
	y = compute(op, func(rec *ir.Recorder, v []*ir.Value) *ir.Value {
		all := make([]*ir.Value, len(given))
		for i, t := range given {
			if t == nil {
				all[i] = rec.Record(ir.Fill{Shape: zeros[i], DType: Float32})
			} else {
				all[i], v = v[0], v[1:]
			}
		}
		states, final := rec.Recurrent(op, all...)
		if final != nil {
			c = wrap(narrow(rec, final, factor))
		}
		return states
	}, slices.DeleteFunc(slices.Clone(given), func(t *Tensor) bool { return t == nil })...)
	last := steps - 1
	if r.Reverse {
		last = 0
	}
	ending := y.Slice(0, last, last+1)
	defer ending.Release()
	h = ending.Reshape(state...)
	if valid := r.valid(); valid != nil {
		defer valid.Release()
		states := y
		defer states.Release()
		zero := Full(0)
		defer zero.Release()
		typed := zero.Cast(y.DType())
		defer typed.Release()
		y = Where(valid, states, typed)
	}
	return y, h, c
}

// sizes returns T, N and H.
func (r *recurrence) sizes() (steps, sequences, hidden int) {
	x := r.X.Shape()
	return x[0], x[1], r.Weight.Size(1)
}

func (r *recurrence) check() {
	wrong := func(hint string, tensors ...*Tensor) {
		var shapes [][]int
		for _, t := range tensors {
			shapes = append(shapes, t.Shape())
		}
		panic(&ShapeError{Op: "Recurrence", Shapes: shapes, Hint: hint})
	}
	x, w, gates := r.X.Shape(), r.Weight.Shape(), r.Cell.Gates()
	if len(x) != 3 || len(w) != 2 || w[0] != gates*w[1] || x[2] != w[0] || x[0] < 1 {
		wrong(fmt.Sprintf("X must be [T, N, %d·H] with at least one step, and Weight [%[1]d·H, H]", gates), r.X, r.Weight)
	}
	if r.Bias != nil && (r.Cell != ir.GRUCell || !slices.Equal(r.Bias.Shape(), w[:1])) {
		wrong("only a GRUCell has a bias of the previous state, [3·H]", r.Bias)
	}
	if r.C != nil && r.Cell != ir.LSTMCell {
		wrong("only an LSTMCell has a state C", r.C)
	}
	for _, state := range []*Tensor{r.H, r.C} {
		if state != nil && !slices.Equal(state.Shape(), []int{x[1], w[1]}) {
			wrong("the initial state must be [N, H]", r.X, r.Weight, state)
		}
	}
	if r.Lengths == nil {
		return
	}
	if !slices.Equal(r.Lengths.Shape(), x[1:2]) {
		wrong("Lengths must be [N]", r.X, r.Lengths)
	}
	if r.Lengths.DType() != Int32 {
		panic(&DTypeError{Op: "Recurrence", DTypes: []DType{r.Lengths.DType()}, Hint: "Lengths must be of type int32: lengths.Cast(tensor.Int32) converts them"})
	}
	r.Lengths = checkLengths("Recurrence", r.Lengths, 1, x[0])
}

// valid returns for each step [T, N, 1] whether it is not padding; nil if all are valid.
func (r *recurrence) valid() *Tensor {
	if r.Lengths == nil {
		return nil
	}
	steps, _, _ := r.sizes()
	all := Arange(0, float64(steps), 1, Int32)
	step, length := all.Reshape(-1, 1, 1), r.Lengths.Reshape(1, -1, 1)
	for _, t := range []*Tensor{all, step, length} {
		defer t.Release()
	}
	return step.Less(length)
}

// cellStep computes a recurrence step by step from other ops.
type cellStep struct {
	recurrence
	weight *Tensor // Weight, transposed
	hidden int
	made   []*Tensor // intermediate results, released at the end
}

func (s *cellStep) keep(t *Tensor) *Tensor {
	s.made = append(s.made, t)
	return t
}

// steps computes the recurrence from other ops.
func (r *recurrence) steps() (y, h, c *Tensor) {
	steps, sequences, hidden := r.sizes()
	s := &cellStep{recurrence: *r, hidden: hidden}
	defer func() {
		for _, t := range s.made {
			t.Release()
		}
	}()
	s.weight = s.keep(r.Weight.MT())
	valid := r.valid()
	if valid != nil {
		s.keep(valid)
	}
	zero := s.keep(s.keep(Full(0)).Cast(r.X.DType()))
	h, c = r.H, r.C
	if h == nil && steps == 1 && r.Weight.RequiresGrad() {
		// Only the state before the last step is multiplied by the weight, which otherwise would have
		// no gradient instead of zeros, as with the kernel and in PyTorch.
		h = s.keep(s.keep(Zeros(sequences, hidden)).Cast(r.X.DType()))
	}
	outputs := make([]*Tensor, steps)
	for i := range steps {
		t := i
		if r.Reverse {
			t = steps - 1 - i
		}
		x := s.keep(s.keep(r.X.Slice(0, t, t+1)).Reshape(sequences, r.Cell.Gates()*hidden))
		nextH, nextC := s.next(x, h, c)
		out := nextH
		if valid != nil {
			now := s.keep(s.keep(valid.Slice(0, t, t+1)).Reshape(sequences, 1))
			or := func(next, before *Tensor) *Tensor {
				if before == nil {
					before = zero
				}
				return s.keep(Where(now, next, before))
			}
			out = or(nextH, nil)
			if h == nil {
				nextH = out
			} else {
				nextH = or(nextH, h)
			}
			if nextC != nil {
				nextC = or(nextC, c)
			}
		}
		h, c = nextH, nextC
		outputs[t] = out
	}
	y = Stack(0, outputs...)
	s.made = slices.DeleteFunc(s.made, func(t *Tensor) bool { return t == h || t == c })
	return y, h, c
}

// next returns the state after a step, given the input's part of the gates and the previous state,
// nil for zeros.
func (s *cellStep) next(x, h, c *Tensor) (nextH, nextC *Tensor) {
	k := s.keep
	gates := x
	if h != nil && s.Cell != ir.GRUCell {
		gates = k(x.Add(k(h.MatMul(s.weight))))
	}
	gate := func(of *Tensor, i int) *Tensor { return k(of.Slice(1, i*s.hidden, (i+1)*s.hidden)) }
	switch s.Cell {
	case ir.TanhCell:
		return k(gates.Tanh()), nil
	case ir.ReLUCell:
		return k(gates.ReLU()), nil
	case ir.LSTMCell:
		in, candidate, out := k(gate(gates, 0).Sigmoid()), k(gate(gates, 2).Tanh()), k(gate(gates, 3).Sigmoid())
		nextC = k(in.Mul(candidate))
		if c != nil {
			nextC = k(k(k(gate(gates, 1).Sigmoid()).Mul(c)).Add(nextC))
		}
		return k(out.Mul(k(nextC.Tanh()))), nextC
	}
	return s.nextGRU(x, h, gate), nil
}

func (s *cellStep) nextGRU(x, h *Tensor, gate func(of *Tensor, i int) *Tensor) *Tensor {
	k := s.keep
	of := s.Bias // the previous state's part of the gates
	if of != nil {
		of = k(of.Reshape(1, -1))
	}
	if h != nil {
		if product := k(h.MatMul(s.weight)); of != nil {
			of = k(product.Add(of))
		} else {
			of = product
		}
	}
	sum := func(i int) *Tensor {
		if of == nil {
			return gate(x, i)
		}
		return k(gate(x, i).Add(gate(of, i)))
	}
	update, candidate := k(sum(1).Sigmoid()), gate(x, 2)
	if of != nil {
		candidate = k(candidate.Add(k(k(sum(0).Sigmoid()).Mul(gate(of, 2)))))
	}
	candidate = k(candidate.Tanh())
	if h == nil {
		return k(candidate.Sub(k(update.Mul(candidate))))
	}
	return k(candidate.Add(k(update.Mul(k(h.Sub(candidate))))))
}
