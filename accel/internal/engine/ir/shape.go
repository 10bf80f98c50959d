package ir

import (
	"math"
	"slices"
)

// Len returns the number of elements of a shape; a scalar (no dimensions) has one.
func Len(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Countable reports whether the bytes of a tensor of this shape, whose dimensions are not
// negative, can be counted in an int.
func Countable(shape []int) bool {
	if slices.Contains(shape, 0) {
		return true
	}
	n := 8 // size of the largest element
	for _, d := range shape {
		if n > math.MaxInt/d {
			return false
		}
		n *= d
	}
	return true
}

// Strides returns the row-major strides of a shape, in elements.
func Strides(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// Broadcast returns the common shape of a and b by NumPy's rules: dimensions are aligned at
// the right, and a 1 is broadcast to the other's size.
func Broadcast(a, b []int) ([]int, bool) {
	n := max(len(a), len(b))
	out := make([]int, n)
	for i := range n {
		x, y := 1, 1
		if j := i - (n - len(a)); j >= 0 {
			x = a[j]
		}
		if j := i - (n - len(b)); j >= 0 {
			y = b[j]
		}
		switch {
		case x == y, y == 1:
			out[i] = x
		case x == 1:
			out[i] = y
		default:
			return nil, false
		}
	}
	return out, true
}

// Layout maps a tensor's elements to its buffer, in elements.
type Layout struct {
	Shape  []int
	Stride []int
	Offset int
}

// RowMajor returns the layout of a newly computed tensor.
func RowMajor(shape []int) Layout {
	return Layout{Shape: shape, Stride: Strides(shape)}
}

// Contiguous reports whether the elements are in row-major order without gaps. The stride
// of a dimension of size one does not matter.
func (l Layout) Contiguous() bool {
	n := 1
	for i := len(l.Shape) - 1; i >= 0; i-- {
		if l.Shape[i] != 1 && l.Stride[i] != n {
			return Len(l.Shape) == 0
		}
		n *= l.Shape[i]
	}
	return true
}

// repeatsRow reports whether a matrix has one row, or column, of neighbors in memory that is repeated along an axis, the last or the one
// before it. A matmul would take the stride of 0 for that of an operand which it has packed; BLAS libraries reject it.
func (l Layout) repeatsRow(axis int) bool {
	r := len(l.Shape) - 2
	if axis < r || axis < 0 {
		return false
	}
	other := 2*r + 1 - axis
	return l.Shape[axis] > 1 && l.Stride[axis] == 0 && l.Shape[other] > 1 && l.Stride[other] == 1
}

// BroadcastTo returns the layout with stride 0 along broadcast dimensions.
func (l Layout) BroadcastTo(shape []int) Layout {
	out := Layout{Shape: shape, Stride: make([]int, len(shape)), Offset: l.Offset}
	skip := len(shape) - len(l.Shape)
	for i, d := range l.Shape {
		if d != 1 || shape[skip+i] == 1 {
			out.Stride[skip+i] = l.Stride[i]
		}
	}
	return out
}

// Squeeze drops dimensions of size one and merges neighboring dimensions that one stride
// covers, which makes loops over the layout shorter.
func (l Layout) Squeeze() Layout {
	out := Layout{Offset: l.Offset}
	for i, d := range l.Shape {
		if d == 1 {
			continue
		}
		if k := len(out.Shape) - 1; k >= 0 && out.Stride[k] == d*l.Stride[i] {
			out.Shape[k] *= d
			out.Stride[k] = l.Stride[i]
			continue
		}
		out.Shape = append(out.Shape, d)
		out.Stride = append(out.Stride, l.Stride[i])
	}
	return out
}

// inMemoryOrder returns the dimensions in the order in which the elements are in memory, without gaps. ok
// is false if the layout is row-major, or there are gaps.
func (l Layout) inMemoryOrder() (order []int, ok bool) {
	if l.Contiguous() {
		return nil, false
	}
	order = make([]int, len(l.Shape))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := l.Shape[i] == 1, l.Shape[j] == 1; { // the strides of these do not matter
		case a && b:
			return 0
		case a:
			return -1
		case b:
			return 1
		}
		return l.Stride[j] - l.Stride[i]
	})
	return order, l.permuted(order).Contiguous()
}

// permuted returns the layout with dimension i being dimension perm[i].
func (l Layout) permuted(perm []int) Layout {
	out := Layout{Shape: make([]int, len(perm)), Stride: make([]int, len(perm)), Offset: l.Offset}
	for i, p := range perm {
		out.Shape[i], out.Stride[i] = l.Shape[p], l.Stride[p]
	}
	return out
}

// inverse returns the permutation that undoes another.
func inverse(perm []int) []int {
	out := make([]int, len(perm))
	for i, p := range perm {
		out[p] = i
	}
	return out
}

func sameShape(a, b []int) bool { return slices.Equal(a, b) }
