package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Window describes the sliding window of a convolution or pooling. Each pair is height and width.
// The zero Window has stride 1 (pooling: the window's size), no padding, no dilation and one group.
type Window struct {
	Stride   [2]int // 0 means the default
	Padding  [2]int // rows and columns added on both sides: zeros, which MaxPool2D ignores
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
	o := conv2DOf(window)
	if s, k := x.Shape(), weight.Shape(); len(s) == 4 && len(k) == 4 {
		for i := range 2 {
			o.Stride[i], o.Dilation[i] = ir.Reach(s[2+i], k[2+i], o.Stride[i], o.Padding[i], o.Dilation[i])
		}
	}
	return record(o, withOptional([]*Tensor{x, weight}, bias)...)
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
	}, withOptional([]*Tensor{x, weight}, bias)...)
}

// Conv1D is [Conv2D] for sequences x [N, C, T] with weight [O, C/groups, K], plus bias [O], which may
// be nil: torch's conv1d. The result is [N, O, OT]. The second element of each pair of the window
// applies.
func Conv1D(x, weight, bias *Tensor, window Window) *Tensor {
	checkRank("Conv1D", 3, x, weight)
	return alongRows(x, weight, func(x, weight *Tensor) *Tensor { return Conv2D(x, weight, bias, rowWindow(window)) })
}

// ConvTranspose1D is [ConvTranspose2D] for sequences x [N, C, T] with weight [C, O/groups, K], plus
// bias [O], which may be nil: torch's conv_transpose1d. The result is [N, O, OT]. The second element
// of each pair of the window applies.
func ConvTranspose1D(x, weight, bias *Tensor, window Window, outputPadding int) *Tensor {
	checkRank("ConvTranspose1D", 3, x, weight)
	return alongRows(x, weight, func(x, weight *Tensor) *Tensor {
		return ConvTranspose2D(x, weight, bias, rowWindow(window), [2]int{0, outputPadding})
	})
}

func checkRank(op string, rank int, tensors ...*Tensor) {
	shapes := make([][]int, len(tensors))
	ok := true
	for i, t := range tensors {
		shapes[i] = t.Shape()
		ok = ok && len(shapes[i]) == rank
	}
	if !ok {
		panic(&ShapeError{Op: op, Shapes: shapes, Hint: fmt.Sprintf("x and the weight must have %d dimensions", rank)})
	}
}

// rowWindow is a window of height 1.
func rowWindow(w Window) Window {
	w.Stride[0], w.Padding[0], w.Dilation[0] = 1, 0, 1
	return w
}

// alongRows applies a function of images to sequences, as images of height 1.
func alongRows(x, weight *Tensor, f func(x, weight *Tensor) *Tensor) *Tensor {
	image := func(t *Tensor) *Tensor {
		s := t.Shape()
		return t.Reshape(s[0], s[1], 1, s[2])
	}
	rows, kernel := image(x), image(weight)
	defer rows.Release()
	defer kernel.Release()
	y := f(rows, kernel)
	defer y.Release()
	s := y.Shape()
	return y.Reshape(s[0], s[1], s[3])
}

// Window3D describes the sliding window of [Conv3D], with depth, height and width in each triple. The
// zero Window3D has stride 1, no padding, no dilation and one group.
type Window3D struct {
	Stride   [3]int // 0 means 1
	Padding  [3]int // zeros that are added on both sides
	Dilation [3]int // distance between the elements of the window; 0 means 1
	Groups   int    // groups of channels that the convolution does not mix; 0 means 1
}

// Conv3D returns the cross-correlation of volumes x [N, C, D, H, W] with weight [O, C/groups, KD, KH,
// KW], plus bias [O], which may be nil: torch's conv3d. The result is [N, O, OD, OH, OW]. It is the
// [Conv2D] of the slices of each window, which are copied to channels.
func Conv3D(x, weight, bias *Tensor, window Window3D) *Tensor {
	checkRank("Conv3D", 5, x, weight)
	in, kernel := x.Shape(), weight.Shape()
	stride, dilation, padding := max(window.Stride[0], 1), max(window.Dilation[0], 1), window.Padding[0]
	if padding < 0 || window.Stride[0] < 0 || window.Dilation[0] < 0 {
		panic(&ShapeError{Op: "Conv3D", Shapes: [][]int{in, kernel}, Hint: "stride, dilation and padding must not be negative"})
	}
	depth, err := ir.Windows(in[2], kernel[2], stride, padding, dilation)
	if wrong := (*ShapeError)(nil); errors.As(err, &wrong) {
		panic(&ShapeError{Op: "Conv3D", Shapes: [][]int{in, kernel}, Hint: wrong.Hint + ", along the depth"})
	}
	stride, dilation = ir.Reach(in[2], kernel[2], stride, padding, dilation)
	var s scratch
	defer s.release()
	keep := s.keep
	slicesOfX := x
	if padding > 0 {
		slicesOfX = keep(x.Pad(2, padding, padding))
	}
	slicesOfX = keep(slicesOfX.Permute(2, 0, 1, 3, 4))
	index := make([]int, 0, depth*kernel[2])
	for d := range depth {
		for k := range kernel[2] {
			index = append(index, d*stride+k*dilation)
		}
	}
	windows := keep(slicesOfX.IndexSelect(keep(FromInts(index, depth, kernel[2])))) // [OD, KD, N, C, H, W]
	images := keep(keep(windows.Permute(2, 0, 3, 1, 4, 5)).Reshape(in[0]*depth, in[1]*kernel[2], in[3], in[4]))
	flat := Window{Groups: window.Groups}
	copy(flat.Stride[:], window.Stride[1:])
	copy(flat.Padding[:], window.Padding[1:])
	copy(flat.Dilation[:], window.Dilation[1:])
	y := keep(Conv2D(images, keep(weight.Reshape(kernel[0], kernel[1]*kernel[2], kernel[3], kernel[4])), bias, flat))
	out := slices.Concat([]int{in[0], depth}, y.Shape()[1:])
	return keep(y.Reshape(out...)).Permute(0, 2, 1, 3, 4)
}

// MaxPool2D returns the largest element of each window of images x [N, C, H, W], NaN if the window
// contains one. kernel is the window's height and width, and its default stride. Of equal elements
// the first gets the gradient. Groups are not used.
func MaxPool2D(x *Tensor, kernel [2]int, window Window) *Tensor {
	return record(ir.MaxPool2D{Pool: pool(x, kernel, window)}, x)
}

// AvgPool2D returns the mean of each window of images x [N, C, H, W]. kernel is the window's height
// and width, and its default stride. Padding counts as zeros. Groups are not used.
func AvgPool2D(x *Tensor, kernel [2]int, window Window) *Tensor {
	return record(ir.AvgPool2D{Pool: pool(x, kernel, window)}, x)
}

// GlobalAvgPool2D returns the mean of each channel [N, C] of images [N, C, H, W].
func GlobalAvgPool2D(x *Tensor) *Tensor {
	if x.NDim() != 4 {
		panic(&ShapeError{Op: "GlobalAvgPool2D", Shapes: [][]int{x.Shape()}, Hint: "the input must be images [N C H W]"})
	}
	return x.Mean(2, 3)
}

func pool(x *Tensor, kernel [2]int, w Window) ir.Pool {
	o := ir.Pool{Kernel: kernel, Stride: orDefault(w.Stride, kernel), Padding: w.Padding, Dilation: orDefault(w.Dilation, [2]int{1, 1})}
	if s := x.Shape(); len(s) == 4 {
		for i := range 2 {
			o.Stride[i], o.Dilation[i] = ir.Reach(s[2+i], kernel[i], o.Stride[i], o.Padding[i], o.Dilation[i])
		}
	}
	return o
}

// UpsampleNearest repeats each element of the dimensions after the second n times along each of them:
// torch's interpolate with mode "nearest". [N, C, H, W] becomes [N, C, n·H, n·W]; the input may have
// one to three such dimensions.
func UpsampleNearest(x *Tensor, n int) *Tensor {
	shape := x.Shape()
	if len(shape) < 3 || n < 1 {
		panic(&ShapeError{Op: "UpsampleNearest", Shapes: [][]int{shape}, Hint: fmt.Sprintf("x must be [N, C, …] with at least one more dimension, and the factor %d at least 1", n)})
	}
	apart, wide, out := append([]int{}, shape[:2]...), append([]int{}, shape[:2]...), append([]int{}, shape[:2]...)
	for _, size := range shape[2:] {
		if size > 0 && n > math.MaxInt/size {
			panic(&ShapeError{Op: "UpsampleNearest", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the factor %d is too large", n)})
		}
		apart, wide, out = append(apart, size, 1), append(wide, size, n), append(out, size*n)
	}
	separate := x.Reshape(apart...)
	defer separate.Release()
	repeated := separate.Expand(wide...)
	defer repeated.Release()
	return repeated.Reshape(out...)
}

// UpsampleBilinear enlarges images x [N, C, H, W] to [N, C, n·H, n·W] with linear interpolation along
// both axes: torch's interpolate with mode "bilinear" and align_corners=False. Output pixel i has its
// center at (i + ½)/n - ½ of the input's pixels; beyond the border are copies of the border.
func UpsampleBilinear(x *Tensor, n int) *Tensor {
	shape := x.Shape()
	if len(shape) != 4 || n < 1 || shape[2] < 1 || shape[3] < 1 {
		panic(&ShapeError{Op: "UpsampleBilinear", Shapes: [][]int{shape}, Hint: fmt.Sprintf("x must be images [N, C, H, W] of at least one pixel, and the factor %d at least 1", n)})
	}
	for _, size := range shape[2:] {
		if n > math.MaxInt/size {
			panic(&ShapeError{Op: "UpsampleBilinear", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the factor %d is too large", n)})
		}
	}
	var s scratch
	defer s.release()
	rows, columns := s.keep(interpolation(shape[2], n, x.DType())), s.keep(interpolation(shape[3], n, x.DType()))
	return rows.MatMul(s.keep(x.MatMul(s.keep(columns.MT()))))
}

// interpolation returns the matrix [n·size, size] of linear interpolation.
func interpolation(size, n int, d DType) *Tensor {
	m := hostBuffer[float64]("UpsampleBilinear", Float64, []int{n * size, size})
	for i := range n * size {
		at := max((float64(i)+0.5)/float64(n)-0.5, 0)
		low := int(math.Floor(at))
		share := at - float64(low)
		m[i*size+low] += 1 - share
		m[i*size+min(low+1, size-1)] += share
	}
	if d == Float64 {
		return FromFloat64s(m, n*size, size)
	}
	narrow := make([]float32, len(m))
	for i, v := range m {
		narrow[i] = float32(v)
	}
	t := New(narrow, n*size, size)
	if d == Float32 {
		return t
	}
	defer t.Release()
	return t.Cast(d)
}
