package accel

import (
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// weights are copies of a model's tensors by their names: of its parameters and
// of what its layers have measured.
type weights map[string]*Tensor

func copyWeights(model nn.Module) weights {
	w := weights{}
	tensor.NoGrad(func() {
		for _, p := range nn.State(model) {
			w[p.Name] = p.Clone()
		}
		tensor.Flush()
	})
	return w
}

// restore writes the copies back.
func (w weights) restore(model nn.Module) error { return nn.SetState(model, w) }
