package nn

import "github.com/quernlab/quern/accel/tensor"

// Checkpoint is modules one after the other that keep nothing for the gradient
// but their input: Backward computes them again (Chen et al., Training Deep Nets
// with Sublinear Memory Cost, 2016), for less memory and the time of their
// forward pass once more. Gradients are the same. The first input, at which
// layers get their parameters, is computed as without Checkpoint.
func Checkpoint(layers ...Module) Module { return &checkpoint{Sequential(layers...)} }

type checkpoint struct{ chain *Chain }

func (c *checkpoint) Forward(x *Tensor) *Tensor {
	if untouchedIn(c.chain) {
		return c.chain.Forward(x)
	}
	return tensor.Checkpoint(func(in []*Tensor) *Tensor { return c.chain.Forward(in[0]) }, x)
}

// untouchedIn tells whether a layer has no parameters yet.
func untouchedIn(chain *Chain) bool {
	found := false
	walk(chain, func(_ []string, v any) {
		if l, ok := v.(lazy); ok && empty(l) {
			found = true
		}
	})
	return found
}

func (c *checkpoint) String() string  { return "Checkpoint" + list(c.chain.layers) }
func (c *checkpoint) parts() []Module { return c.chain.layers }
func (c *checkpoint) private() bool   { return c.chain.private() }
