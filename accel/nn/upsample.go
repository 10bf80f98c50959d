package nn

import (
	"github.com/quernlab/quern/accel/internal/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Bilinear makes [Upsample] interpolate images [N, C, H, W] linearly instead of repeating pixels.
func Bilinear() Option {
	return Option{option.New(func(o *options) { o.bilinear = true }, "Bilinear")}
}

// Upsample returns a layer that multiplies the size of each dimension after the second by scale:
// [N, C, H, W] becomes [N, C, scale·H, scale·W]. It repeats the nearest element, as PyTorch's
// Upsample does by default; with [Bilinear] it interpolates as PyTorch does with
// align_corners=False.
func Upsample(scale int, given ...Option) Module {
	o, compute := options{}.read("Upsample", given, "Bilinear"), tensor.UpsampleNearest
	if o.bilinear {
		compute = tensor.UpsampleBilinear
	}
	return &activation{o.call("Upsample", scale), func(x *Tensor) *Tensor { return compute(x, scale) }}
}
