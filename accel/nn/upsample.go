package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// UpsampleOption changes an [Upsample] layer.
type UpsampleOption struct{ text string }

// String returns the option as Go code.
func (o UpsampleOption) String() string { return o.text }

// Bilinear makes [Upsample] interpolate images [N, C, H, W] linearly instead of repeating pixels.
func Bilinear() UpsampleOption { return UpsampleOption{"Bilinear()"} }

// Upsample returns a layer that multiplies the size of each dimension after the second by scale:
// [N, C, H, W] becomes [N, C, scale·H, scale·W]. It repeats the nearest element, as PyTorch's
// Upsample does by default; with [Bilinear] it interpolates as PyTorch does with
// align_corners=False.
func Upsample(scale int, options ...UpsampleOption) Module {
	if len(options) > 0 && options[len(options)-1] == Bilinear() {
		return &activation{fmt.Sprintf("Upsample(%d, Bilinear())", scale), func(x *Tensor) *Tensor { return tensor.UpsampleBilinear(x, scale) }}
	}
	return &activation{fmt.Sprintf("Upsample(%d)", scale), func(x *Tensor) *Tensor { return tensor.UpsampleNearest(x, scale) }}
}
