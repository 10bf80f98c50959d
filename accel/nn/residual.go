package nn

import "github.com/quernlab/quern/accel/internal/layer"

// Residual returns x + f(x), where f is the modules one after the other (He et al.,
// 2016). Input and output of f must have shapes that can be added.
func Residual(layers ...Module) Module { return &residual{Sequential(layers...)} }

type residual struct{ chain *SequentialLayer }

func (r *residual) Forward(x *Tensor) *Tensor {
	y := r.chain.Forward(x)
	sum := x.Add(y)
	if y != x && r.private() {
		y.Release()
	}
	return sum
}

func (r *residual) String() string  { return "Residual" + list(r.chain.layers) }
func (r *residual) parts() []Module { return r.chain.layers }
func (r *residual) Layer() any      { return layer.Shortcut{Chain: r.chain} }
func (r *residual) private() bool   { return r.chain.private() }
