package nn

import (
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// SetRecompute lets the chains of a model keep less for the gradient, or with false
// as much as always: the n modules of a chain, with those of chains within it, are
// computed in about √n parts, of which each keeps its input only and is computed
// again by Backward (Chen et al., Training Deep Nets with Sublinear Memory Cost,
// 2016). Gradients are the same bit for bit; a step takes the time of one more
// forward pass. It returns the number of chains that this cuts, those of at least
// two modules; what no chain holds is left alone, and [Recompute] is for it.
func SetRecompute(model any, on bool) (chains int) {
	inner := map[*SequentialLayer]bool{}
	walk(model, func(_ []string, v any) {
		c, ok := v.(*SequentialLayer)
		if !ok {
			return
		}
		walk(c.layers, func(_ []string, v any) { // which are cut with c
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

// flat returns the modules of a chain and of the chains in it.
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

// segments is Forward part by part.
func (c *SequentialLayer) segments(x *Tensor) *Tensor {
	layers := c.flat()
	parts := int(math.Ceil(math.Sqrt(float64(len(layers)))))
	in := x
	for i := range parts {
		from, to := i*len(layers)/parts, (i+1)*len(layers)/parts
		y := tensor.Recompute(func(in []*Tensor) *Tensor { return through(layers[from:to], in[0]) }, x)
		if x != in {
			x.Release()
		}
		x = y
	}
	return x
}
