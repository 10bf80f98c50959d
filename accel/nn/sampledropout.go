package nn

import "github.com/quernlab/quern/accel/tensor"

// SampleDropout selects one member of a dropout ensemble (Gal and Ghahramani, Dropout as a
// Bayesian Approximation, 2016): the model is in evaluation mode, but each [Dropout] and [Dropout2D] drops
// elements, the same ones for every example and batch, which seed determines, until [Train] is
// called. It returns the number of layers that drop elements. It does not affect dropout that a
// module's own Forward applies to tensors.
func SampleDropout(model any, seed uint64) (dropouts int) {
	Train(model, false)
	walk(model, func(_ []string, v any) {
		d, ok := v.(*dropout)
		if !ok || d.share == 0 {
			return
		}
		layer := tensor.NewGenerator(seed)
		layer.SetState(seed, uint64(dropouts)<<40) // far apart in one stream
		fixed := layer.Uint64()
		d.fixed = &fixed
		dropouts++
	})
	return dropouts
}

// mask returns the factors that a layer with a fixed seed multiplies each example of x by.
func (d *dropout) mask(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) > 0 {
		shape[0] = 1
	}
	if d.channels {
		shape[2], shape[3] = 1, 1
	}
	return tensor.Ones(shape...).Cast(x.DType()).Dropout(d.share, tensor.NewGenerator(*d.fixed), true)
}
