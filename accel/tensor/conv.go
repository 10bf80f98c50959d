package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

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
// 1.2·10⁻⁶ relative to the results instead of 0.6·10⁻⁶ with 128 channels. Up to 4×4 neighboring
// results share a transform, so an infinite element makes all of them NaN. For other kernels each
// image is laid out in rows that share their padding. Each kernel element then reads the same
// memory, shifted, and no patches are copied (no im2col).
func Conv2D(x, weight, bias *Tensor, window Window) *Tensor {
	in := []*Tensor{x, weight}
	if bias != nil {
		in = append(in, bias)
	}
	o := conv2DOf(window)
	if s, k := x.Shape(), weight.Shape(); len(s) == 4 && len(k) == 4 {
		for i := range 2 {
			o.Stride[i], o.Dilation[i] = ir.Reach(s[2+i], k[2+i], o.Stride[i], o.Padding[i], o.Dilation[i])
		}
	}
	return record(o, in...)
}

func conv2DOf(w Window) ir.Conv2D {
	one := [2]int{1, 1}
	o := ir.Conv2D{Stride: orDefault(w.Stride, one), Padding: w.Padding, Dilation: orDefault(w.Dilation, one), Groups: w.Groups}
	if o.Groups == 0 {
		o.Groups = 1
	}
	return o
}

// ConvTranspose2D returns the transposed convolution of x [N, C, H, W] with weight [C, O/groups, KH,
// KW], plus bias [O], which may be nil: torch's conv_transpose2d. It is the gradient of [Conv2D] with
// respect to its images: each element of x adds the kernel, multiplied by it, to the result. The
// result is [N, O, OH, OW] with OH = (H - 1)·stride - 2·padding + dilation·(KH-1) + 1 + outputPadding;
// outputPadding adds rows and columns at the end, fewer than the stride. With stride 2, a kernel of
// 4×4 and padding 1, images of [8, 3, 7, 7] become [8, O, 14, 14].
func ConvTranspose2D(x, weight, bias *Tensor, window Window, outputPadding [2]int) *Tensor {
	in := []*Tensor{x, weight}
	if bias != nil {
		in = append(in, bias)
	}
	o := conv2DOf(window)
	op := composite{name: "ConvTranspose2D", cast: ir.Cast16Bit, of: ir.Conv2DInputGradient{}}
	return compute(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x, w := v[0].Shape(), v[1].Shape()
		wrong := func(hint string) {
			panic(&ShapeError{Op: op.name, Shapes: [][]int{slices.Clone(x), slices.Clone(w)}, Hint: hint})
		}
		if d := v[0].DType(); d != v[1].DType() || d != Float32 && d != Float64 {
			panic(&DTypeError{Op: op.name, DTypes: []DType{d, v[1].DType()}, Hint: "both must be floats of one type; convert with Cast"})
		}
		if len(x) != 4 || len(w) != 4 || x[1] != w[0] || o.Groups < 1 || x[1]%o.Groups != 0 {
			wrong("x [N C H W] and weight [C O/groups KH KW] are needed, and C must be a multiple of the groups")
		}
		var size [2]int
		for i := range size {
			if o.Stride[i] < 1 || o.Dilation[i] < 1 || o.Padding[i] < 0 || outputPadding[i] < 0 || outputPadding[i] >= o.Stride[i] {
				wrong(fmt.Sprintf("stride %v and dilation %v must be at least 1, padding %v not negative, and output padding %v in 0..stride-1", o.Stride, o.Dilation, o.Padding, outputPadding))
			}
			if x[2+i] < 1 || w[2+i] < 1 {
				wrong(fmt.Sprintf("the result would have no elements along axis %d", 2+i))
			}
			if x[2+i]-1 > math.MaxInt32/o.Stride[i] || w[2+i]-1 > math.MaxInt32/o.Dilation[i] || max(o.Padding[i], outputPadding[i]) > math.MaxInt32/2 {
				wrong(fmt.Sprintf("stride %v, dilation %v, padding %v and output padding %v are too large: at most %d elements are supported along axis %d",
					o.Stride, o.Dilation, o.Padding, outputPadding, math.MaxInt32, 2+i))
			}
			size[i] = (x[2+i]-1)*o.Stride[i] - 2*o.Padding[i] + o.Dilation[i]*(w[2+i]-1) + 1 + outputPadding[i]
			if size[i] < 1 {
				wrong(fmt.Sprintf("the result would have no elements along axis %d", 2+i))
			}
			if n, err := ir.Windows(size[i], w[2+i], o.Stride[i], o.Padding[i], o.Dilation[i]); err != nil || n != x[2+i] {
				wrong(fmt.Sprintf("%d elements are too many along axis %d", size[i], 2+i))
			}
			o.Stride[i], o.Dilation[i] = ir.Reach(size[i], w[2+i], o.Stride[i], o.Padding[i], o.Dilation[i])
		}
		y := r.Record(ir.Conv2DInputGradient{Conv2D: o, H: size[0], W: size[1]}, v[0], v[1])
		if bias == nil {
			return y
		}
		if channels := w[1] * o.Groups; !slices.Equal(v[2].Shape(), []int{channels}) {
			panic(&ShapeError{Op: op.name, Shapes: [][]int{slices.Clone(v[2].Shape())}, Hint: fmt.Sprintf("the bias must have %d elements, one for each output channel", channels)})
		}
		return r.Add(y, r.Reshape(v[2], []int{v[2].Len(), 1, 1}))
	}, in...)
}
