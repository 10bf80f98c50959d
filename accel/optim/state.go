package optim

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// State is what an optimiser remembers, under the names that the model's
// parameters have in [nn.NamedParameters], so that it can be kept in a file.
type State struct {
	Steps   int            // of the optimiser
	Updates map[string]int // of each parameter
	// Tensors are the running means, such as "0.weight.first" and
	// "0.weight.second", each of the shape of its parameter.
	Tensors map[string]*tensor.Tensor
}

// State returns a copy of what the optimiser remembers.
func (o *Optimizer) State() State {
	o.settle()
	s := State{Steps: o.steps, Updates: map[string]int{}, Tensors: map[string]*tensor.Tensor{}}
	tensor.NoGrad(func() {
		for _, p := range nn.State(o.model) {
			known := o.state[p.Tensor]
			if known == nil {
				continue
			}
			s.Updates[p.Name] = known.steps
			for name, t := range map[string]*tensor.Tensor{".first": known.first, ".second": known.second} {
				if t != nil {
					s.Tensors[p.Name+name] = t.Clone()
				}
			}
		}
		tensor.Flush()
	})
	return s
}

// SetState goes on from what another optimiser of the same kind remembered of
// the same model, bit for bit. It fails, and changes nothing, when a name or a
// shape does not fit.
func (o *Optimizer) SetState(s State) error {
	parameters := map[string]*tensor.Tensor{}
	for _, p := range nn.State(o.model) {
		parameters[p.Name] = p.Tensor
	}
	states, used := map[*tensor.Tensor]*state{}, 0
	for name, updates := range s.Updates {
		p, ok := parameters[name]
		if !ok {
			return fmt.Errorf("optim: the state has %s, which is no parameter of the model", name)
		}
		known := &state{steps: updates}
		for suffix, to := range map[string]**tensor.Tensor{".first": &known.first, ".second": &known.second} {
			t, ok := s.Tensors[name+suffix]
			if !ok {
				continue
			}
			if !slices.Equal(t.Shape(), p.Shape()) {
				return fmt.Errorf("optim: the state of %s has shape %v, the parameter %v", name, t.Shape(), p.Shape())
			}
			*to = t
			used++
		}
		states[p] = known
	}
	if used < len(s.Tensors) {
		return fmt.Errorf("optim: of the %d tensors of the state %d belong to no parameter of the model", len(s.Tensors), len(s.Tensors)-used)
	}
	tensor.NoGrad(func() {
		for _, known := range states {
			for _, t := range []**tensor.Tensor{&known.first, &known.second} {
				if *t != nil {
					*t = (*t).Clone()
				}
			}
		}
		tensor.Flush()
	})
	o.state, o.steps, o.guard = states, s.Steps, nil
	return nil
}
