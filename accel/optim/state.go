package optim

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// State is the state of an optimizer, for saving it to a file. Names are those of the model's
// parameters in [nn.NamedParameters].
type State struct {
	Steps   int            // of the optimizer
	Updates map[string]int // number of updates of each parameter
	// Tensors are the running means, such as "0.weight.first" and "0.weight.second", with the
	// shape of their parameter.
	Tensors map[string]*tensor.Tensor
}

// State returns a copy of the state of the optimizer.
func (o *Optimizer) State() State {
	o.readCounts()
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

// SetState sets the state of the optimizer, which then continues bit for bit like the one that
// the state came from. It fails, and changes nothing, if a name or a shape does not match the
// model.
func (o *Optimizer) SetState(s State) error {
	parameters := map[string]*tensor.Tensor{}
	for _, p := range nn.State(o.model) {
		parameters[p.Name] = p.Tensor
	}
	states, used := map[*tensor.Tensor]*state{}, 0
	for name, updates := range s.Updates {
		p, ok := parameters[name]
		if !ok {
			return fmt.Errorf("optim: the state has %s, which is not a parameter of the model: use the state of an optimizer of the same model", name)
		}
		known := &state{steps: updates}
		for suffix, to := range map[string]**tensor.Tensor{".first": &known.first, ".second": &known.second} {
			t, ok := s.Tensors[name+suffix]
			if !ok {
				continue
			}
			if !slices.Equal(t.Shape(), p.Shape()) {
				return fmt.Errorf("optim: the state of %s has shape %v, but the parameter has shape %v: use the state of an optimizer of the same model", name, t.Shape(), p.Shape())
			}
			*to = t
			used++
		}
		states[p] = known
	}
	if used < len(s.Tensors) {
		return fmt.Errorf("optim: the state has %d tensors, of which %d belong to no parameter of the model: use the state of an optimizer of the same model", len(s.Tensors), len(s.Tensors)-used)
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
