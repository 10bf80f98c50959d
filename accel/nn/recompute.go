package nn

import (
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// Recompute returns a chain of modules that keeps only its input for the backward pass, which
// computes the activations again (gradient checkpointing; Chen et al., Training Deep Nets with
// Sublinear Memory Cost, 2016). It saves memory and costs one more forward pass of these
// modules. Gradients are the same. The first input, at which layers create their parameters, is
// computed as without Recompute.
func Recompute(layers ...Module) Module { return &recompute{Sequential(layers...)} }

type recompute struct{ chain *SequentialLayer }

// Recomputes says that the layers inside run again in the backward pass, for package parallel.
func (*recompute) Recomputes() {}

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

// SetRecompute splits each outermost [Sequential] of a model into about √n parts, where n is the
// number of its modules; those of Sequentials directly in it count one by one. A part keeps only
// its input for the backward pass, which computes the activations again (Chen et al., Training
// Deep Nets with Sublinear Memory Cost, 2016). If on is false, SetRecompute undoes that.
// Gradients are the same bit for bit; a step takes the time of one more forward pass.
// SetRecompute returns the number of Sequentials that it splits: those with at least two modules.
// For modules outside of a Sequential, use [Recompute].
func SetRecompute(model any, on bool) (chains int) {
	inner := map[*SequentialLayer]bool{}
	walk(model, func(_ []string, v any) {
		c, ok := v.(*SequentialLayer)
		if !ok {
			return
		}
		walk(c.layers, func(_ []string, v any) { // they are split together with c
			if within, ok := v.(*SequentialLayer); ok {
				inner[within] = true
			}
		})
		c.recompute = on && !inner[c] && len(c.flat()) > 1
		if c.recompute {
			chains++
		}
	})
	return chains
}

// flat returns the modules of a chain, with those of nested chains in their place.
func (c *SequentialLayer) flat() []numbered {
	var all []numbered
	for _, layer := range c.numbered() {
		within, ok := layer.module.(*SequentialLayer)
		if !ok {
			all = append(all, layer)
			continue
		}
		for _, l := range within.flat() {
			all = append(all, numbered{layer.path + "." + l.path, l.module})
		}
	}
	return all
}

// segments computes Forward in the parts of [SetRecompute]. The backward pass computes each part
// again.
func (c *SequentialLayer) segments(x *Tensor) *Tensor {
	layers := c.flat()
	parts := int(math.Ceil(math.Sqrt(float64(len(layers)))))
	in := x
	for i := range parts {
		from, to := i*len(layers)/parts, (i+1)*len(layers)/parts
		y := tensor.Recompute(func(in []*Tensor) *Tensor { return runLayers(layers[from:to], in[0]) }, x)
		if x != in {
			x.Release()
		}
		x = y
	}
	return x
}
