package nn

import "github.com/quernlab/quern/accel/tensor"

// Recompute is modules one after the other that keep nothing for the gradient
// but their input: Backward computes them again (Chen et al., Training Deep Nets
// with Sublinear Memory Cost, 2016), for less memory and the time of their
// forward pass once more. Gradients are the same. The first input, at which
// layers get their parameters, is computed as without Recompute.
func Recompute(layers ...Module) Module { return &recompute{Sequential(layers...)} }

type recompute struct{ chain *SequentialLayer }

func (c *recompute) Forward(x *Tensor) *Tensor {
	if untouchedIn(c.chain) {
		return c.chain.Forward(x)
	}
	return tensor.Recompute(func(in []*Tensor) *Tensor { return c.chain.Forward(in[0]) }, x)
}

// untouchedIn reports whether a layer has no parameters yet.
func untouchedIn(chain *SequentialLayer) bool {
	found := false
	walk(chain, func(_ []string, v any) {
		if l, ok := v.(lazy); ok && empty(l) {
			found = true
		}
	})
	return found
}

func (c *recompute) String() string  { return "Recompute" + list(c.chain.layers) }
func (c *recompute) parts() []Module { return c.chain.layers }
func (c *recompute) private() bool   { return c.chain.private() }
