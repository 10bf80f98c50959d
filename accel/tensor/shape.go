package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
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
	return arrange(ir.Permute{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value { return exchange(r, v[0], n-2, n-1) }, t)
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

// Squeeze removes the given axes where their size is 1, or all axes of size 1 if none is given. Axes of other
// sizes stay, as in torch. For t [1, 3, 1], Squeeze(0) has the shape [3, 1] and Squeeze() [3].
func (t *Tensor) Squeeze(axes ...int) *Tensor {
	return arrange(composite{name: "Squeeze"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s := v[0].Shape()
		named, left := namedAxes("Squeeze", s, axes), []int{}
		for i, d := range s {
			if d != 1 || !named[i] {
				left = append(left, d)
			}
		}
		return r.Reshape(v[0], left)
	}, t)
}

// Unsqueeze inserts an axis of size 1: t [2, 3] becomes [1, 2, 3] at 0, and [2, 3, 1] at 2 or -1.
func (t *Tensor) Unsqueeze(along int) *Tensor {
	return arrange(composite{name: "Unsqueeze"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s := v[0].Shape()
		a := axis("Unsqueeze", append(slices.Clone(s), 1), along)
		return r.Reshape(v[0], slices.Insert(slices.Clone(s), a, 1))
	}, t)
}

// namedAxes returns which axes are given; without any, all are. It panics with a *ShapeError if one is
// given twice.
func namedAxes(op string, shape, axes []int) []bool {
	named := make([]bool, len(shape))
	for i := range named {
		named[i] = len(axes) == 0
	}
	for _, i := range axes {
		a := axis(op, shape, i)
		if named[a] {
			panic(&ShapeError{Op: op, Shapes: [][]int{slices.Clone(shape)}, Hint: fmt.Sprintf("axis %d is given twice", i)})
		}
		named[a] = true
	}
	return named
}

// Split divides t into parts of the given size along an axis; the last one may be smaller. An empty axis has
// one part.
func (t *Tensor) Split(size, along int) []*Tensor {
	s := t.Shape()
	n := s[axis("Split", s, along)]
	if size < 1 && (size != 0 || n != 0) {
		panic(&ShapeError{Op: "Split", Shapes: [][]int{s}, Hint: fmt.Sprintf("parts of size %d: the size must be at least 1", size)})
	}
	parts := []*Tensor{t.Slice(along, 0, min(size, n))}
	for from := size; from < n; {
		to := from + min(size, n-from)
		parts = append(parts, t.Slice(along, from, to))
		from = to
	}
	return parts
}

// Chunk divides t along an axis into n parts of equal size; the last one may be smaller, and there are fewer
// parts if the axis is too short: torch's chunk. The size of a part is ⌈size/n⌉. An empty axis has one part.
func (t *Tensor) Chunk(n, along int) []*Tensor {
	s := t.Shape()
	size := s[axis("Chunk", s, along)]
	if n < 1 {
		panic(&ShapeError{Op: "Chunk", Shapes: [][]int{s}, Hint: fmt.Sprintf("%d parts: there must be at least 1", n)})
	}
	if size == 0 {
		return t.Split(0, along)
	}
	part := size / n
	if size%n != 0 {
		part++
	}
	return t.Split(part, along)
}

// Flip reverses the order of the elements along the axes, or along all axes if none is given.
func (t *Tensor) Flip(axes ...int) *Tensor {
	return arrange(composite{name: "Flip"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		for a, flipped := range namedAxes("Flip", x.Shape(), axes) {
			if !flipped {
				continue
			}
			x = exchange(r, x, 0, a)
			n := x.Shape()[0]
			checkPositions("Flip", x.Shape(), n)
			from := r.Record(ir.Cast{To: Int32}, countTo(r, n, true))
			x = exchange(r, r.Record(ir.IndexSelect{}, x, from), 0, a)
		}
		return x
	}, t)
}

// countTo returns 0 to n-1 as float64, or the same from the end, computed by the device: an export knows how
// many there are for each size of the input.
func countTo(r *ir.Recorder, n int, reverse bool) *ir.Value {
	ones := r.Record(ir.Fill{Value: 1, Shape: []int{n}, DType: Float64})
	return r.Record(ir.AddScalar{Scalar: -1}, r.Record(ir.CumSum{Reverse: reverse}, ones))
}

// checkPositions panics with a *ShapeError if the positions of n elements do not fit into 32 bits.
func checkPositions(op string, shape []int, n int) {
	if n > math.MaxInt32 {
		panic(&ShapeError{Op: op, Shapes: [][]int{slices.Clone(shape)}, Hint: "more than 2³¹-1 elements cannot be indexed"})
	}
}

// exchange returns v with two axes exchanged.
func exchange(r *ir.Recorder, v *ir.Value, a, b int) *ir.Value {
	if a == b {
		return v
	}
	perm := make([]int, len(v.Shape()))
	for i := range perm {
		perm[i] = i
	}
	perm[a], perm[b] = b, a
	return r.Record(ir.Permute{Perm: perm}, v)
}

// Roll moves the elements along an axis by shift to higher indices; what leaves at the end comes in at the
// beginning. A negative shift moves to lower indices. For t [1 2 3 4], Roll(1, 0) returns [4 1 2 3].
func (t *Tensor) Roll(shift, along int) *Tensor {
	return arrange(composite{name: "Roll"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s := v[0].Shape()
		a := axis("Roll", s, along)
		n := s[a]
		if n == 0 || shift%n == 0 {
			return v[0]
		}
		from := -(shift % n)
		if from < 0 {
			from += n
		}
		part := func(from, to int) *ir.Value { return r.Record(ir.Slice{Axis: a, From: from, To: to}, v[0]) }
		return r.Record(ir.Concat{Axis: a}, part(from, n), part(0, from))
	}, t)
}

// Tile repeats t along each axis, as torch's and NumPy's tile and torch.Tensor.repeat. If there are more
// repetitions than axes, t gets axes of size 1 in front; if there are fewer, the first axes are not repeated.
// For t [1 2], Tile(2) returns [1 2 1 2], and Tile(2, 1) returns [[1 2] [1 2]].
func (t *Tensor) Tile(repeats ...int) *Tensor {
	return arrange(composite{name: "Tile"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s := v[0].Shape()
		n := max(len(s), len(repeats))
		times := append(slices.Repeat([]int{1}, n-len(repeats)), repeats...)
		sizes := append(slices.Repeat([]int{1}, n-len(s)), s...)
		var apart, repeated, joined []int // each axis is repeated along one of its own
		for i, d := range sizes {
			if times[i] < 0 {
				panic(&ShapeError{Op: "Tile", Shapes: [][]int{slices.Clone(s)}, Hint: fmt.Sprintf("%d repetitions cannot be negative", times[i])})
			}
			apart, repeated, joined = append(apart, 1, d), append(repeated, times[i], d), append(joined, times[i]*d)
		}
		return r.Reshape(r.Record(ir.Expand{Shape: repeated}, r.Reshape(v[0], apart)), joined)
	}, t)
}

// RepeatInterleave repeats each element along an axis n times: torch's repeat_interleave and NumPy's repeat.
// For t [1 2], RepeatInterleave(2, 0) returns [1 1 2 2].
func (t *Tensor) RepeatInterleave(n, along int) *Tensor {
	return arrange(composite{name: "RepeatInterleave"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s := v[0].Shape()
		a := axis("RepeatInterleave", s, along)
		if n < 0 {
			panic(&ShapeError{Op: "RepeatInterleave", Shapes: [][]int{slices.Clone(s)}, Hint: fmt.Sprintf("%d repetitions cannot be negative", n)})
		}
		apart, joined := slices.Insert(slices.Clone(s), a+1, 1), slices.Clone(s)
		repeated := slices.Clone(apart)
		repeated[a+1], joined[a] = n, s[a]*n
		return r.Reshape(r.Record(ir.Expand{Shape: repeated}, r.Reshape(v[0], apart)), joined)
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

// Tril returns t [B…, M, N] with the lower triangle of each matrix and 0 elsewhere: torch's tril.
// It keeps the elements on the diagonal and to the left of it. Diagonal 0 is the main one, 1 the one
// to the right of it, -1 the one to the left. t has any element type. For t [[1 2] [3 4]], Tril(0)
// returns [[1 0] [3 4]].
func (t *Tensor) Tril(diagonal int) *Tensor {
	return t.triangle("Tril", ir.Triangle{Diagonal: diagonal})
}

// Triu returns t [B…, M, N] with the upper triangle of each matrix and 0 elsewhere: torch's triu. It
// keeps the elements on the diagonal and to the right of it; see Tril. For t [[1 2] [3 4]], Triu(1)
// returns [[0 2] [0 0]].
func (t *Tensor) Triu(diagonal int) *Tensor {
	return t.triangle("Triu", ir.Triangle{Diagonal: diagonal, Upper: true})
}

func (t *Tensor) triangle(name string, op ir.Triangle) *Tensor {
	return arrange(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value { return r.Record(op, v[0]) }, t)
}
