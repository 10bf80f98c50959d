package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// Window says how the window of a convolution or pool moves over an image.
// Each pair is height and width. The zero Window moves by one (a pool: by its
// size), without padding or dilation, in one group.
type Window struct {
	Stride   [2]int // step from one place to the next; 0 means the default
	Padding  [2]int // zeros (in a pool: nothing) added on both sides
	Dilation [2]int // distance of the window's elements; 0 means 1
	Groups   int    // of channels that a convolution keeps apart; 0 means 1
}

func orDefault(n, d [2]int) [2]int {
	for i := range n {
		if n[i] == 0 {
			n[i] = d[i]
		}
	}
	return n
}

// Conv2D returns the cross-correlation of images x [N, C, H, W] with weight
// [O, C/groups, KH, KW], plus bias [O], which may be nil: torch's conv2d. It
// gives [N, O, OH, OW] with OH = ⌊(H + 2·padding - dilation·(KH-1) - 1)/stride⌋ + 1.
// A ReLU that follows is part of it. Where x or the gradient has an infinite
// element, the gradient of the weight may be NaN.
//
// On the processor kernels of 3×3 that move by one over many channels go through
// Winograd's transforms, with a third to a quarter of the multiplications. They
// round about twice as much as a sum of all products: relative to the size of the
// results 1.2·10⁻⁶ in place of 0.6·10⁻⁶ for 128 channels. Up to 4×4 neighbours share
// a transform, so that an infinite element makes all of them NaN. For all others
// each image is spread into rows that share their padding, so that every element of
// the kernel reads the same memory, shifted, and multiplies in place; there are no
// copies of patches.
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
