package accel

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// Recompute trains with less memory: the chains of the model ([nn.Sequential])
// are computed in parts, of which each keeps only its input and is computed again
// for the gradient; see [nn.SetRecompute]. What is learned is the same bit for bit,
// dropout included, and a step takes about a third longer. Layers without
// parameters get them from one example before the training begins. Fit fails where the
// model has no chain that could be cut; [nn.Recompute] is for those.
//
// To keep a training in a file is another matter: that is [Resume].
func Recompute() Option {
	return plain("Recompute()", func(c *options) { c.recompute = true })
}

// beginRecompute cuts the model, and returns what undoes it. Layers that have no
// parameters yet get them first: the step in which they did would take the memory
// of the whole model.
func (o *options) beginRecompute(ctx context.Context, model nn.Module, train *data.Dataset) (end func(), err error) {
	if !o.recompute {
		return func() {}, nil
	}
	if err := touch(ctx, model, train); err != nil {
		return nil, err
	}
	if nn.SetRecompute(model, true) == 0 {
		return nil, errors.New("accel: Recompute(): the model is no chain of modules, nn.Sequential, and has none in it; put nn.Recompute around its parts")
	}
	return func() { nn.SetRecompute(model, false) }, nil
}
