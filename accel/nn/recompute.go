package nn

import "github.com/quernlab/quern/accel/tensor"

// Recompute returns a chain of modules that keeps only its input for the backward pass, which
// computes the activations again (gradient checkpointing; Chen et al., Training Deep Nets with
// Sublinear Memory Cost, 2016). It saves memory and costs one more forward pass of these
// modules. Gradients are the same. The first input, at which layers create their parameters, is
// computed as without Recompute.
func Recompute(layers ...Module) Module { return &recompute{Sequential(layers...)} }

type recompute struct{ chain *SequentialLayer }

func (c *recompute) Forward(x *Tensor) *Tensor {
	if lacksParameters(c.chain) {
		return c.chain.Forward(x)
	}
	return tensor.Recompute(func(in []*Tensor) *Tensor { return c.chain.Forward(in[0]) }, x)
}

// lacksParameters reports whether a layer has not created its parameters yet.
func lacksParameters(chain *SequentialLayer) bool {
	found := false
	walk(chain, func(_ []string, v any) {
		if l, ok := v.(lazy); ok && hasNoParameters(l) {
			found = true
		}
	})
	return found
}

func (c *recompute) String() string       { return "Recompute" + list(c.chain.layers) }
func (c *recompute) parts() []Module      { return c.chain.layers }
func (c *recompute) retainsNothing() bool { return c.chain.retainsNothing() }
