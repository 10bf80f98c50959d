package accel

import (
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// weights are copies of a model's tensors by name (parameters and buffers such as running
// means), and what they were trained with.
type weights struct {
	tensors map[string]*Tensor
	trained map[string]any
}

func copyWeights(model nn.Module) weights {
	w := weights{map[string]*Tensor{}, map[string]any{}}
	tensor.NoGrad(func() {
		for _, p := range nn.State(model) {
			w.tensors[p.Name], w.trained[p.Name] = p.Clone(), p.Metadata()
		}
		tensor.Flush()
	})
	return w
}

// none reports whether nothing was copied.
func (w weights) none() bool { return w.tensors == nil }

// restore writes the copies back to the model.
func (w weights) restore(model nn.Module) error {
	if err := nn.SetState(model, w.tensors); err != nil {
		return err
	}
	for _, p := range nn.State(model) {
		p.SetMetadata(w.trained[p.Name])
	}
	return nil
}
