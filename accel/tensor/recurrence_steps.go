package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

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
