package loop

import (
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// Weights are copies of a model's tensors by name (parameters and buffers such as running
// means), and what they were trained with.
type Weights struct {
	tensors map[string]*tensor.Tensor
	trained map[string]any
}

func CopyWeights(model nn.Module) Weights {
	w := Weights{map[string]*tensor.Tensor{}, map[string]any{}}
	tensor.NoGrad(func() {
		for _, p := range nn.State(model) {
			w.tensors[p.Name], w.trained[p.Name] = p.Clone(), tensors.Metadata(p.Tensor)
		}
		tensor.Flush()
	})
	return w
}

// none reports whether nothing was copied.
func (w Weights) none() bool { return w.tensors == nil }

// Restore writes the copies back to the model.
func (w Weights) Restore(model nn.Module) error {
	if err := nn.SetState(model, w.tensors); err != nil {
		return err
	}
	for _, p := range nn.State(model) {
		tensors.SetMetadata(p.Tensor, w.trained[p.Name])
	}
	return nil
}

// judged are the weights that validations measure: an average of the parameters, or the parameters
// themselves if average is nil.
type judged struct{ average *optim.EMA }

// use gives the model these weights until restore is called.
func (j judged) use() (restore func()) {
	if j.average == nil {
		return func() {}
	}
	return j.average.Use()
}

// state returns the tensors of the model by name, with these weights.
func (j judged) state(model nn.Module) map[string]*tensor.Tensor {
	tensors := map[string]*tensor.Tensor{}
	for _, p := range nn.State(model) {
		tensors[p.Name] = p.Tensor
	}
	if j.average != nil {
		for name, t := range j.average.State() {
			tensors[name] = t
		}
	}
	return tensors
}

// KeepRandom returns a function that sets the random numbers back to where they are now, so that a search
// does not change the training after it.
func KeepRandom() (restore func()) {
	seed, drawn := (*tensor.Generator)(nil).State()
	weightSeed, weightsDrawn := tensor.WeightGenerator().State()
	return func() {
		(*tensor.Generator)(nil).SetState(seed, drawn)
		tensor.WeightGenerator().SetState(weightSeed, weightsDrawn)
	}
}
