package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// LayerNorm is (x - mean)/√(variance + epsilon)·weight + bias over the last
// dims dimensions of x, which are the shape of weight and bias; these may be
// nil. The variance divides by the number of elements. torch's layer_norm, with
// an epsilon of 1e-5.
func LayerNorm(x, weight, bias *Tensor, dims int, epsilon float64) *Tensor {
	return norm("LayerNorm", ir.LayerNorm{Epsilon: epsilon}, x, dims, weight, bias)
}

// RMSNorm is x/√(mean(x²) + epsilon)·weight over the last dims dimensions of x,
// which are the shape of weight; it may be nil. torch's rms_norm.
func RMSNorm(x, weight *Tensor, dims int, epsilon float64) *Tensor {
	return norm("RMSNorm", ir.RMSNorm{Epsilon: epsilon}, x, dims, weight)
}

// norm makes rows of the last dimensions. Of the parameters the first is 1 and
// the second 0 by default.
func norm(name string, op ir.Op, x *Tensor, dims int, parameters ...*Tensor) *Tensor {
	in := []*Tensor{x}
	for _, p := range parameters {
		if p != nil {
			in = append(in, p)
		}
	}
	return compute(name, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if dims < 1 || dims > len(shape) {
			panic(&ShapeError{Op: name, Shapes: [][]int{slices.Clone(shape)}, Hint: "cannot normalise that many dimensions"})
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
				panic(&ShapeError{Op: name, Shapes: [][]int{slices.Clone(shape), slices.Clone(q.Shape())}, Hint: "a parameter must have the shape of the dimensions that are normalised, " + ir.FormatShape(last)})
			}
			args = append(args, r.Reshape(q, []int{n}))
		}
		return r.Reshape(r.Record(op, args...), shape)
	}, in...)
}

// BatchNorm is (x - mean)/√(variance + epsilon)·weight + bias for each channel of
// x [N, C, …]; torch's batch_norm, with an epsilon of 1e-5 and a momentum of
// 0.1. weight and bias [C] may be nil.
//
// In training mean and variance are those of the batch, the variance dividing by
// the number of elements, and the running mean and variance [C], which may be
// nil, move towards them by momentum, the variance by the one that divides by
// one less. Otherwise the running ones are used. A ReLU that follows is part of
// it.
func BatchNorm(x, weight, bias, mean, variance *Tensor, momentum, epsilon float64, training bool) *Tensor {
	in := []*Tensor{x}
	for _, p := range []*Tensor{weight, bias, mean, variance} {
		if p != nil {
			in = append(in, p)
		}
	}
	if (mean == nil) != (variance == nil) {
		panic(&StateError{Op: "BatchNorm", Hint: "running mean and variance must both be there, or neither"})
	}
	return compute("BatchNorm", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if len(shape) < 2 {
			panic(&ShapeError{Op: "BatchNorm", Shapes: [][]int{slices.Clone(shape)}, Hint: "x [N C …] is needed"})
		}
		channels := []int{shape[1]}
		for _, p := range v[1:] {
			if !slices.Equal(p.Shape(), channels) {
				panic(&ShapeError{Op: "BatchNorm", Shapes: [][]int{slices.Clone(shape), slices.Clone(p.Shape())}, Hint: "parameters, mean and variance must be " + ir.FormatShape(channels)})
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
			panic(&ShapeError{Op: "BatchNorm", Shapes: [][]int{slices.Clone(shape)}, Hint: "at least two elements of each channel are needed for statistics of the batch"})
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
			move(r, mean, statistics, 0, momentum, 1)
			move(r, variance, statistics, 1, momentum, float64(count)/float64(count-1))
		}
		return r.Record(ir.BatchNorm{Epsilon: epsilon, Training: own}, v[0], statistics, w, b)
	}, in...)
}

// cast is v in an element type.
func cast(r *ir.Recorder, v *ir.Value, d DType) *ir.Value {
	if v.DType() == d {
		return v
	}
	return r.Record(ir.Cast{To: d}, v)
}

// move takes a running statistic by momentum towards the batch's.
func move(r *ir.Recorder, running *Tensor, statistics *ir.Value, row int, momentum, factor float64) {
	r.NoGrad(1)
	defer r.NoGrad(-1)
	old := running.own("BatchNorm")
	target := cast(r, r.Reshape(r.Record(ir.Slice{Axis: 0, From: row, To: row + 1}, statistics), old.Shape()), old.DType())
	next := r.Add(r.MulScalar(old, 1-momentum), r.MulScalar(target, momentum*factor)).Hold()
	if !r.Assign(&running.v, next, running.leaf) {
		next.Drop()
	}
}
