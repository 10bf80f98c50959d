package tensor

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

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
	var made []*Tensor
	defer func() {
		for _, t := range made {
			t.Release()
		}
	}()
	keep := func(t *Tensor) *Tensor { made = append(made, t); return t }
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
