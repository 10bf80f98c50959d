package accel

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// Recompute trains with less memory: each chain of modules ([nn.Sequential]) in the model is
// split into parts that keep only their input; the backward pass computes their activations
// again (gradient checkpointing; see [nn.SetRecompute]). The result of training is the same bit
// for bit, including dropout, and a step takes about a third longer. Layers without parameters
// get them from one example before the training begins. Fit fails if the model has no chain
// that can be split; use [nn.Recompute] in such a model.
//
// To save a training to a file, use [Resume].
func Recompute() Option {
	return plain("Recompute()", func(c *options) { c.recompute = true })
}

// beginRecompute splits the model's chains and returns a function that undoes it. Layers
// without parameters get them first, since the first step would otherwise need the memory of
// the whole model.
func (o *options) beginRecompute(ctx context.Context, model nn.Module, train *data.Dataset) (end func(), err error) {
	if !o.recompute {
		return func() {}, nil
	}
	if err := touch(ctx, model, train); err != nil {
		return nil, err
	}
	if nn.SetRecompute(model, true) == 0 {
		return nil, errors.New("accel: Recompute(): the model contains no nn.Sequential of two or more modules; wrap parts of the model in nn.Recompute instead")
	}
	return func() { nn.SetRecompute(model, false) }, nil
}
