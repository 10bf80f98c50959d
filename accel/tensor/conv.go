package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// Window describes the sliding window of a convolution or pooling. Each pair is height and width.
// The zero Window has stride 1 (pooling: the window's size), no padding, no dilation and one group.
type Window struct {
	Stride   [2]int // 0 means the default
	Padding  [2]int // rows and columns added on both sides; a convolution pads with zeros, pooling ignores them
	Dilation [2]int // distance between the elements of the window; 0 means 1
	Groups   int    // groups of channels that a convolution does not mix; 0 means 1
}

func orDefault(n, d [2]int) [2]int {
	for i := range n {
		if n[i] == 0 {
			n[i] = d[i]
		}
	}
	return n
}

// Conv2D returns the cross-correlation of images x [N, C, H, W] with weight [O, C/groups, KH, KW],
// plus bias [O], which may be nil: torch's conv2d. The result is [N, O, OH, OW] with OH = ⌊(H +
// 2·padding - dilation·(KH-1) - 1)/stride⌋ + 1. A following ReLU is fused into it. If x or the
// gradient has an infinite element, the gradient of the weight may be NaN.
//
// On the CPU, 3×3 kernels of stride 1 over many channels use Winograd's algorithm, with a third to
// a quarter of the multiplications. Its rounding error is about twice that of a direct sum:
// 1.2·10⁻⁶ relative to the results instead of 0.6·10⁻⁶ with 128 channels. Up to 4×4 neighbouring
// results share a transform, so an infinite element makes all of them NaN. For other kernels each
// image is laid out in rows that share their padding. Each kernel element then reads the same
// memory, shifted, and no patches are copied (no im2col).
func Conv2D(x, weight, bias *Tensor, window Window) *Tensor {
	in := []*Tensor{x, weight}
	if bias != nil {
		in = append(in, bias)
	}
	one := [2]int{1, 1}
	op := ir.Conv2D{Stride: orDefault(window.Stride, one), Padding: window.Padding, Dilation: orDefault(window.Dilation, one), Groups: window.Groups}
	if op.Groups == 0 {
		op.Groups = 1
	}
	return record(op, in...)
}
