package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// LayerNorm returns (x - mean)/√(variance + epsilon)·weight + bias, normalized over the last dims
// dimensions of x: torch's layer_norm, whose epsilon is 1e-5. weight and bias have the shape of
// these dimensions or are nil. The variance is divided by the number of elements.
func LayerNorm(x, weight, bias *Tensor, dims int, epsilon float64) *Tensor {
	return norm(ir.LayerNorm{Epsilon: epsilon}, x, dims, weight, bias)
}

// RMSNorm returns x/√(mean(x²) + epsilon)·weight, normalized over the last dims dimensions of x:
// torch's rms_norm. weight has the shape of these dimensions or is nil.
func RMSNorm(x, weight *Tensor, dims int, epsilon float64) *Tensor {
	return norm(ir.RMSNorm{Epsilon: epsilon}, x, dims, weight)
}

// norm reshapes the last dimensions into rows and records op. A nil parameter defaults to 1 if it
// is the first (weight) and to 0 if it is the second (bias).
func norm(op ir.Op, x *Tensor, dims int, parameters ...*Tensor) *Tensor {
	in := []*Tensor{x}
	for _, p := range parameters {
		if p != nil {
			in = append(in, p)
		}
	}
	return compute(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if dims < 1 || dims > len(shape) {
			panic(&ShapeError{Op: op.Name(), Shapes: [][]int{slices.Clone(shape)}, Hint: fmt.Sprintf("cannot normalize over the last %d dimensions", dims)})
		}
		last := shape[len(shape)-dims:]
		n := ir.Len(last)
		args := []*ir.Value{r.Reshape(v[0], []int{ir.Len(shape[:len(shape)-dims]), n})}
		next := 1
		for i, p := range parameters {
			if p == nil {
				args = append(args, r.Record(ir.Fill{Value: float64(1 - i), Shape: []int{n}, DType: v[0].DType()}))
				continue
			}
			q := v[next]
			next++
			if !slices.Equal(q.Shape(), last) {
				panic(&ShapeError{Op: op.Name(), Shapes: [][]int{slices.Clone(shape), slices.Clone(q.Shape())}, Hint: "weight and bias must have the shape of the normalized dimensions, " + ir.FormatShape(last)})
			}
			args = append(args, r.Reshape(q, []int{n}))
		}
		return r.Reshape(r.Record(op, args...), shape)
	}, in...)
}

// BatchNorm returns (x - mean)/√(variance + epsilon)·weight + bias for each channel of x [N, C, …]:
// torch's batch_norm, whose epsilon is 1e-5 and momentum 0.1. weight and bias [C] may be nil.
//
// In training it uses the mean and the variance of the batch (divided by the number of elements)
// and moves the running mean and variance [C] toward them by momentum; the running variance moves
// toward the unbiased one, divided by one less. Outside of training it uses the running
// statistics, or those of the batch if they are nil. A following ReLU is fused into it.
func BatchNorm(x, weight, bias, mean, variance *Tensor, momentum, epsilon float64, training bool) *Tensor {
	in := []*Tensor{x}
	for _, p := range []*Tensor{weight, bias, mean, variance} {
		if p != nil {
			in = append(in, p)
		}
	}
	if (mean == nil) != (variance == nil) {
		panic(&StateError{Op: "BatchNorm", Hint: "pass both the running mean and the running variance, or neither"})
	}
	return compute(ir.BatchNorm{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if len(shape) < 2 {
			panic(&ShapeError{Op: "BatchNorm", Shapes: [][]int{slices.Clone(shape)}, Hint: "x must be [N C …]"})
		}
		channels := []int{shape[1]}
		for _, p := range v[1:] {
			if !slices.Equal(p.Shape(), channels) {
				panic(&ShapeError{Op: "BatchNorm", Shapes: [][]int{slices.Clone(shape), slices.Clone(p.Shape())}, Hint: "weight, bias, mean and variance must be " + ir.FormatShape(channels)})
			}
		}
		next := 1
		argument := func(t *Tensor, value float64) *ir.Value {
			if t == nil {
				return r.Record(ir.Fill{Value: value, Shape: channels, DType: v[0].DType()})
			}
			next++
			return v[next-1]
		}
		w, b := argument(weight, 1), argument(bias, 0)
		own := training || mean == nil
		count := v[0].Len() / max(shape[1], 1)
		if own && shape[1] > 0 && count < 2 {
			panic(&ShapeError{Op: "BatchNorm", Shapes: [][]int{slices.Clone(shape)}, Hint: "the statistics of a batch need at least two elements per channel; if the last batch of an epoch has one example, use DropLast"})
		}
		var statistics *ir.Value
		if own {
			statistics = r.Record(ir.BatchStatistics{}, v[0])
		} else {
			row := []int{1, shape[1]}
			r.NoGrad(1)
			statistics = r.Record(ir.Concat{Axis: 0}, r.Reshape(v[next], row), r.Reshape(v[next+1], row))
			statistics = cast(r, statistics, v[0].DType())
			r.NoGrad(-1)
		}
		if training && mean != nil && !r.Replaying() {
			updateRunning(r, mean, statistics, 0, momentum, 1)
			updateRunning(r, variance, statistics, 1, momentum, float64(count)/float64(count-1))
		}
		return r.Record(ir.BatchNorm{Epsilon: epsilon, Training: own}, v[0], statistics, w, b)
	}, in...)
}

// cast returns v with element type d.
func cast(r *ir.Recorder, v *ir.Value, d DType) *ir.Value {
	if v.DType() == d {
		return v
	}
	return r.Record(ir.Cast{To: d}, v)
}

// updateRunning updates a running statistic with the batch's, by momentum.
func updateRunning(r *ir.Recorder, running *Tensor, statistics *ir.Value, row int, momentum, factor float64) {
	r.NoGrad(1)
	defer r.NoGrad(-1)
	old := running.holdValue("BatchNorm")
	target := cast(r, r.Reshape(r.Record(ir.Slice{Axis: 0, From: row, To: row + 1}, statistics), old.Shape()), old.DType())
	next := r.Add(r.MulScalar(old, 1-momentum), r.MulScalar(target, momentum*factor)).Hold()
	if !r.Assign(&running.v, next, running.leaf) {
		next.Drop()
	}
}

// fill returns a scalar constant.
func fill(r *ir.Recorder, value float64, d DType) *ir.Value {
	return r.Record(ir.Fill{Value: value, Shape: []int{}, DType: d})
}
