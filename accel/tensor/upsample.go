package tensor

import (
	"fmt"
	"math"
)

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
	rows, columns := interpolation(shape[2], n, x.DType()), interpolation(shape[3], n, x.DType())
	across := columns.MT()
	wide := x.MatMul(across)
	defer func() {
		for _, t := range []*Tensor{rows, columns, across, wide} {
			t.Release()
		}
	}()
	return rows.MatMul(wide)
}

// interpolation returns the matrix [n·size, size] of linear interpolation.
func interpolation(size, n int, d DType) *Tensor {
	m := hostBuffer[float32]("UpsampleBilinear", Float32, []int{n * size, size})
	for i := range n * size {
		at := max((float64(i)+0.5)/float64(n)-0.5, 0)
		low := int(math.Floor(at))
		share := float32(at - float64(low))
		m[i*size+low] += 1 - share
		m[i*size+min(low+1, size-1)] += share
	}
	t := New(m, n*size, size)
	if d == Float32 {
		return t
	}
	defer t.Release()
	return t.Cast(d)
}
