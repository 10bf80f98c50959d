package nn

import "github.com/quernlab/quern/accel/internal/layer"

// Residual returns a module that computes x + f(x), where f runs the given modules one after
// the other (He et al., 2016). The shapes of x and f(x) must be broadcastable.
func Residual(layers ...Module) Module { return &residual{Sequential(layers...)} }

type residual struct{ chain *SequentialLayer }

func (r *residual) Forward(x *Tensor) *Tensor {
	y := r.chain.Forward(x)
	sum := x.Add(y)
	if y != x && r.retainsNothing() {
		y.Release()
	}
	return sum
}

func (r *residual) String() string       { return "Residual" + list(r.chain.layers) }
func (r *residual) parts() []Module      { return r.chain.layers }
func (r *residual) Layer() any           { return layer.Shortcut{Chain: r.chain} }
func (r *residual) retainsNothing() bool { return r.chain.retainsNothing() }
