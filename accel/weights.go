package accel

import (
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// weights is a copy of a model's parameters.
type weights []struct{ parameter, copy *Tensor }

func copyWeights(model nn.Module) weights {
	var w weights
	tensor.NoGrad(func() {
		for _, p := range nn.Parameters(model) {
			w = append(w, struct{ parameter, copy *Tensor }{p, p.Clone()})
		}
		tensor.Flush()
	})
	return w
}

// restore writes the copies back. It may be called once.
func (w weights) restore() (err error) {
	defer nn.Catch(&err)
	tensor.NoGrad(func() {
		for _, v := range w {
			v.parameter.Assign(v.copy)
		}
		tensor.Flush()
	})
	return nil
}
