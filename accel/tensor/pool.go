package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

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
