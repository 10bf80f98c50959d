package tensor

import (
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
	}, withOptional(nil, given...)...)
	last := steps - 1
	if r.Reverse {
		last = 0
	}
	ending := y.Slice(0, last, last+1)
	defer ending.Release()
	h = ending.Reshape(state...)
	if valid := r.valid(); valid != nil {
		var s scratch
		defer s.release()
		y = Where(s.keep(valid), s.keep(y), s.keep(s.keep(Full(0)).Cast(y.DType())))
	}
	return y, h, c
}

// sizes returns T, N and H.
func (r *recurrence) sizes() (steps, sequences, hidden int) {
	x := r.X.Shape()
	return x[0], x[1], r.Weight.Size(1)
}

// check panics unless there is a step, and the lengths are those of the sequences. Packages nn and onnx check the other shapes.
func (r *recurrence) check() {
	x := r.X.Shape()
	if x[0] < 1 {
		panic(&ShapeError{Op: "Recurrence", Shapes: [][]int{x}, Hint: "there must be at least one step"})
	}
	if r.Lengths == nil {
		return
	}
	if n := r.Lengths.Shape(); !slices.Equal(n, x[1:2]) {
		panic(&ShapeError{Op: "Recurrence", Shapes: [][]int{x, n}, Hint: "Lengths must be [N]"})
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
	var s scratch
	defer s.release()
	step := s.keep(s.keep(Arange(0, float64(steps), 1, Int32)).Reshape(-1, 1, 1))
	return step.Less(s.keep(r.Lengths.Reshape(1, -1, 1)))
}

// cellStep computes a recurrence step by step from other ops.
type cellStep struct {
	recurrence
	weight *Tensor // Weight, transposed
	hidden int
	scratch
}

// steps computes the recurrence from other ops.
func (r *recurrence) steps() (y, h, c *Tensor) {
	steps, sequences, hidden := r.sizes()
	s := &cellStep{recurrence: *r, hidden: hidden}
	defer func() { s.release(h, c) }()
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
	return Stack(0, outputs...), h, c
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
