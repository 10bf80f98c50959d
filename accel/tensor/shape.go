package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// T returns the transpose of a matrix, as torch.Tensor.T. [Tensor.MT] transposes the matrices of a
// batch.
func (t *Tensor) T() *Tensor {
	if t.NDim() != 2 {
		panic(&ShapeError{Op: "T", Shapes: [][]int{t.Shape()}, Hint: "the tensor must have two dimensions; MT transposes the last two of several"})
	}
	return record(ir.Permute{Perm: []int{1, 0}}, t)
}

// MT transposes the last two dimensions, as torch.Tensor.mT.
func (t *Tensor) MT() *Tensor {
	n := t.NDim()
	if n < 2 {
		panic(&ShapeError{Op: "MT", Shapes: [][]int{t.Shape()}, Hint: "the tensor must have at least two dimensions"})
	}
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	perm[n-2], perm[n-1] = n-1, n-2
	return record(ir.Permute{Perm: perm}, t)
}

// Permute reorders the dimensions: dimension i of the result is dimension perm[i] of t.
func (t *Tensor) Permute(perm ...int) *Tensor {
	return record(ir.Permute{Perm: slices.Clone(perm)}, t)
}

// Reshape returns the elements, in row-major order, with another shape. One dimension may be -1 and
// is inferred.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	return arrange(ir.Reshape{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.Reshape{Shape: inferShape(v[0].Shape(), shape)}, v[0])
	}, t)
}

func inferShape(from, to []int) []int {
	out := slices.Clone(to)
	if out == nil {
		out = []int{}
	}
	free, n := -1, 1
	for i, d := range out {
		switch {
		case d == -1 && free < 0:
			free = i
		case d < 0:
			panic(&ShapeError{Op: "Reshape", Shapes: [][]int{slices.Clone(from)}, Hint: "cannot be reshaped to " + ir.FormatShape(to) + ": one dimension may be -1, the others must not be negative"})
		default:
			n *= d
		}
	}
	if free >= 0 {
		if n == 0 || ir.Len(from)%n != 0 {
			panic(&ShapeError{Op: "Reshape", Shapes: [][]int{slices.Clone(from)}, Hint: "cannot be reshaped to " + ir.FormatShape(to) + ": the number of elements is not a multiple of the other dimensions"})
		}
		out[free] = ir.Len(from) / n
	}
	return out
}

// Flatten merges the dimensions from the given one to the last: Flatten(1) makes a matrix of a
// batch.
func (t *Tensor) Flatten(from int) *Tensor {
	return arrange(composite{name: "Flatten"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s := v[0].Shape()
		if from == len(s) || from == 0 && len(s) == 0 {
			return r.Reshape(v[0], append(slices.Clone(s), 1))
		}
		a := axis("Flatten", s, from)
		return r.Reshape(v[0], append(slices.Clone(s[:a]), ir.Len(s[a:])))
	}, t)
}

// Slice returns the part of t from index from (inclusive) to index to (exclusive) along an axis.
func (t *Tensor) Slice(along, from, to int) *Tensor {
	return arrange(ir.Slice{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.Slice{Axis: axis("Slice", v[0].Shape(), along), From: from, To: to}, v[0])
	}, t)
}

// Pad adds zeros before and after t along an axis.
func (t *Tensor) Pad(along, before, after int) *Tensor {
	return arrange(ir.Pad{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s := v[0].Shape()
		a := axis("Pad", s, along)
		if before < 0 || after < 0 {
			panic(&ShapeError{Op: "Pad", Shapes: [][]int{slices.Clone(s)}, Hint: fmt.Sprintf("the padding, %d before and %d after, cannot be negative", before, after)})
		}
		return r.Record(ir.Pad{Axis: a, Before: before, Size: before + s[a] + after}, v[0])
	}, t)
}

// Expand returns t broadcast to a shape.
func (t *Tensor) Expand(shape ...int) *Tensor {
	checkShape("Expand", shape)
	return record(ir.Expand{Shape: slices.Clone(shape)}, t)
}

// Concat joins tensors along an axis. Their other dimensions must be equal.
func Concat(along int, tensors ...*Tensor) *Tensor {
	if len(tensors) == 0 {
		panic(&ShapeError{Op: "Concat", Hint: "at least one tensor is needed"})
	}
	return arrange(ir.Concat{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.Concat{Axis: axis("Concat", v[0].Shape(), along)}, v...)
	}, tensors...)
}

// Stack joins tensors of one shape along a new axis, whose size is their number: two tensors [3]
// become [2, 3] along axis 0, and [3, 2] along axis 1 or -1.
func Stack(along int, tensors ...*Tensor) *Tensor {
	if len(tensors) == 0 {
		panic(&ShapeError{Op: "Stack", Hint: "at least one tensor is needed"})
	}
	return arrange(composite{name: "Stack", cast: ir.CastWidest}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		a := axis("Stack", append(slices.Clone(shape), 1), along)
		longer := slices.Insert(slices.Clone(shape), a, 1)
		for i, x := range v {
			if !slices.Equal(x.Shape(), shape) {
				panic(&ShapeError{Op: "Stack", Shapes: [][]int{slices.Clone(shape), slices.Clone(x.Shape())}, Hint: "all tensors must have the same shape"})
			}
			v[i] = r.Reshape(x, longer)
		}
		return r.Record(ir.Concat{Axis: a}, v...)
	}, tensors...)
}
