package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Normalize divides t by its p-norm along an axis, (Σ|t|ᵖ)^(1/p), or by 1e-12 if that is larger: torch's normalize.
// p is at least 1: 2 is the Euclidean norm, and math.Inf(1) the largest absolute value. For t [3 4],
// Normalize(2, 0) returns [0.6 0.8].
func (t *Tensor) Normalize(p float64, along int) *Tensor {
	if !(p >= 1) {
		panic(&ShapeError{Op: "Normalize", Shapes: [][]int{t.Shape()}, Hint: fmt.Sprintf("the norm's p is %v, it must be at least 1", p)})
	}
	return compute(composite{name: "Normalize", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return unit(r, v[0], p, axis("Normalize", v[0].Shape(), along), 1e-12)
	}, t)
}

// unit divides x by its norm along an axis, or by a larger minimum.
func unit(r *ir.Recorder, x *ir.Value, p float64, a int, minimum float64) *ir.Value {
	kept := slices.Clone(x.Shape())
	kept[a] = 1
	length := r.Record(ir.AtLeast{Scalar: minimum}, pNorm(r, x, p, a))
	return r.Record(ir.Div{}, x, r.Reshape(length, kept))
}

// pNorm returns the p-norm along an axis. Its gradient is 0 where it is 0.
func pNorm(r *ir.Recorder, x *ir.Value, p float64, a int) *ir.Value {
	sum := func(v *ir.Value) *ir.Value { return r.Record(ir.Sum{From: a, To: a + 1}, v) }
	switch {
	case p == 1:
		return sum(r.Record(ir.Abs{}, x))
	case p == 2:
		return sqrtZeroGrad(r, sum(r.Record(ir.Square{}, x)))
	case math.IsInf(p, 1):
		return r.Record(ir.Max{Axis: a}, r.Record(ir.Abs{}, x))
	}
	powers := sum(r.Record(ir.PowScalar{Scalar: p}, r.Record(ir.Abs{}, x)))
	return zeroGradAtZero(r, powers, ir.PowScalar{Scalar: 1 / p})
}

// CosineSimilarity returns the cosine of the angle between a and b along an axis, which is removed:
// Σab/(max(‖a‖, 1e-8)·max(‖b‖, 1e-8)), torch's cosine_similarity. The shapes broadcast, and the axis is one of
// the result of that.
func CosineSimilarity(a, b *Tensor, along int) *Tensor {
	return compute(composite{name: "CosineSimilarity", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape, ok := ir.Broadcast(v[0].Shape(), v[1].Shape())
		if !ok {
			panic(&ShapeError{Op: "CosineSimilarity", Shapes: [][]int{slices.Clone(v[0].Shape()), slices.Clone(v[1].Shape())}, Hint: "the shapes do not broadcast"})
		}
		at := axis("CosineSimilarity", shape, along)
		direction := func(x *ir.Value) *ir.Value {
			if !slices.Equal(x.Shape(), shape) {
				x = r.Record(ir.Expand{Shape: slices.Clone(shape)}, x)
			}
			return unit(r, x, 2, at, 1e-8)
		}
		return r.Record(ir.Sum{From: at, To: at + 1}, r.Mul(direction(v[0]), direction(v[1])))
	}, a, b)
}

// CDist returns the Euclidean distances between the rows of a [B…, P, M] and those of b [B…, R, M]: [B…, P, R], torch's
// cdist with p 2. Batches broadcast. The gradient is 0 where the distance is 0. It computes the differences of
// all pairs, which have P·R·M elements, and not a product of matrices, which would lose the digits of small
// distances.
func CDist(a, b *Tensor) *Tensor {
	return compute(composite{name: "CDist", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, o := v[0].Shape(), v[1].Shape()
		n, m := len(s), len(o)
		if n < 2 || m < 2 || s[n-1] != o[m-1] {
			panic(&ShapeError{Op: "CDist", Shapes: [][]int{slices.Clone(s), slices.Clone(o)}, Hint: "both must have at least two dimensions, and the last ones must be equal"})
		}
		d := r.Record(ir.Sub{}, r.Reshape(v[0], slices.Insert(slices.Clone(s), n-1, 1)), r.Reshape(v[1], slices.Insert(slices.Clone(o), m-2, 1)))
		return pNorm(r, d, 2, len(d.Shape())-1)
	}, a, b)
}
