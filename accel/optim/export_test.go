package optim

import "github.com/quernlab/quern/accel/tensor"

// Means returns the running means of a parameter.
func Means(o *Optimizer, p *tensor.Tensor) []*tensor.Tensor {
	s := o.state[p]
	if s.second == nil {
		return []*tensor.Tensor{s.first}
	}
	return []*tensor.Tensor{s.first, s.second}
}
