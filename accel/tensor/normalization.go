package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
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
	}, withOptional([]*Tensor{x}, parameters...)...)
}

// BatchNorm returns (x - mean)/√(variance + epsilon)·weight + bias for each channel of x [N, C, …]:
// torch's batch_norm, whose epsilon is 1e-5 and momentum 0.1. weight and bias [C] may be nil.
//
// In training it uses the mean and the variance of the batch (divided by the number of elements)
// and moves the running mean and variance [C] toward them by momentum; the running variance moves
// toward the unbiased one, divided by one less. Outside of training it uses the running
// statistics, or those of the batch if they are nil. A following ReLU is fused into it.
func BatchNorm(x, weight, bias, mean, variance *Tensor, momentum, epsilon float64, training bool) *Tensor {
	if (mean == nil) != (variance == nil) {
		panic(&StateError{Op: "BatchNorm", Hint: "pass both the running mean and the running variance, or neither"})
	}
	return compute(ir.BatchNorm{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if len(shape) < 2 {
			panic(&ShapeError{Op: "BatchNorm", Shapes: [][]int{slices.Clone(shape)}, Hint: "x must be [N C …]"})
		}
		w, b, running := channelParameters(r, "BatchNorm", v[0], weight, bias, v[1:])
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
			statistics = r.WithoutGrad(func() *ir.Value {
				return cast(r, r.Record(ir.Concat{Axis: 0}, r.Reshape(running[0], row), r.Reshape(running[1], row)), v[0].DType())
			})
		}
		if training && mean != nil && !r.Replaying() {
			updateRunning(r, mean, statistics, 0, momentum, 1)
			updateRunning(r, variance, statistics, 1, momentum, float64(count)/float64(count-1))
		}
		return r.Record(ir.BatchNorm{Epsilon: epsilon, Training: own}, v[0], statistics, w, b)
	}, withOptional([]*Tensor{x}, weight, bias, mean, variance)...)
}

// withOptional returns the tensors with those of some optional ones that are not nil.
func withOptional(in []*Tensor, optional ...*Tensor) []*Tensor {
	for _, t := range optional {
		if t != nil {
			in = append(in, t)
		}
	}
	return in
}

// channelParameters returns the weight and the bias [C] of a batch normalization of x [N, C, …], 1 and 0 where they are nil, and
// the values after theirs, the running mean and variance. It panics with a *ShapeError if one of them is not [C].
func channelParameters(r *ir.Recorder, op string, x *ir.Value, weight, bias *Tensor, values []*ir.Value) (w, b *ir.Value, running []*ir.Value) {
	channels := slices.Clone(x.Shape()[1:2])
	for _, p := range values {
		if !slices.Equal(p.Shape(), channels) {
			panic(&ShapeError{Op: op, Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(p.Shape())}, Hint: "weight, bias, mean and variance must be " + ir.FormatShape(channels)})
		}
	}
	next := func(t *Tensor, otherwise float64) *ir.Value {
		if t == nil {
			return r.Record(ir.Fill{Value: otherwise, Shape: channels, DType: x.DType()})
		}
		v := values[0]
		values = values[1:]
		return v
	}
	w, b = next(weight, 1), next(bias, 0)
	return w, b, values
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

// AllReduceError says that processes could not sum the statistics of a layer.
type AllReduceError struct {
	Op  string // such as "SyncBatchNorm"
	Err error  // of the communication
}

// Error names the op and the reason.
func (e *AllReduceError) Error() string { return fmt.Sprintf("%s: sum over ranks: %v", e.Op, e.Err) }

// Unwrap returns the reason.
func (e *AllReduceError) Unwrap() error { return e.Err }

// syncBatchNorm computes [tensors.SyncBatchNorm]. With n_r elements, mean m_r and variance v_r in process r, the processes sum
// n_r, n_r·m_r and n_r·(v_r + m_r²) in float64.
func syncBatchNorm(b tensors.SyncBatch[*Tensor]) *Tensor {
	x, weight, bias, mean, variance, momentum, epsilon, group := b.X, b.Weight, b.Bias, b.Mean, b.Variance, b.Momentum, b.Epsilon, b.Group
	var all groupStatistics
	NoGrad(func() { all = newGroupStatistics(x, group) })
	return compute(ir.BatchNorm{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		w, b, _ := channelParameters(r, "SyncBatchNorm", v[0], weight, bias, v[2:])
		statistics := r.WithoutGrad(func() *ir.Value { return cast(r, v[1], v[0].DType()) })
		if mean != nil && !r.Replaying() {
			sample := all.sample.lockedValue("SyncBatchNorm")
			updateRunning(r, mean, sample, 0, momentum, 1)
			updateRunning(r, variance, sample, 1, momentum, 1)
		}
		return r.Record(ir.BatchNorm{Epsilon: epsilon, Training: true, Across: func(sums *ir.Value) *ir.Value {
			return all.gradient(sums, group)
		}}, v[0], statistics, w, b)
	}, withOptional([]*Tensor{x, all.statistics}, weight, bias, mean, variance)...)
}

// groupStatistics holds the statistics over all processes, in float64.
type groupStatistics struct {
	statistics *Tensor // mean and variance [2, C]
	sample     *Tensor // the same with the unbiased variance
	share      *Tensor // this process's fraction of all elements [1]
}

// newGroupStatistics computes the statistics of x [N, C, …] over all processes.
func newGroupStatistics(x *Tensor, group processGroup) (all groupStatistics) {
	channels := x.Size(1)
	elements := float64(x.Numel() / max(channels, 1))
	packed := arrange(composite{name: "SyncBatchNorm"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		if group.Idle() {
			return r.Record(ir.Fill{Shape: []int{2*channels + 1}, DType: Float64})
		}
		own := cast(r, r.Record(ir.BatchStatistics{}, widen(r, v)[0]), Float64)
		mean, variance := subvector(r, own, 0, channels), subvector(r, own, channels, channels)
		squares := r.Add(variance, r.Record(ir.Square{}, mean))
		return r.MulScalar(r.Record(ir.Concat{}, mean, squares, r.Record(ir.Fill{Value: 1, Shape: []int{1}, DType: Float64})), elements)
	}, x)
	total := allReduce(group, packed)
	pair := func(r *ir.Recorder, total *ir.Value, sample bool) *ir.Value {
		count := subvector(r, total, 2*channels, 1)
		mean := r.Record(ir.Div{}, subvector(r, total, 0, channels), count)
		variance := r.Record(ir.Sub{}, r.Record(ir.Div{}, subvector(r, total, channels, channels), count), r.Record(ir.Square{}, mean))
		// Rounding can make the variance of equal elements slightly negative.
		variance = r.Record(ir.Maximum{}, variance, fill(r, 0, Float64))
		if sample {
			rest := r.Record(ir.Maximum{}, r.Record(ir.AddScalar{Scalar: -1}, count), fill(r, 1, Float64))
			variance = r.Record(ir.Mul{}, variance, r.Record(ir.Div{}, count, rest))
		}
		return r.Reshape(r.Record(ir.Concat{}, mean, variance), []int{2, channels})
	}
	from := func(f func(r *ir.Recorder, total *ir.Value) *ir.Value) *Tensor {
		return arrange(composite{name: "SyncBatchNorm"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value { return f(r, v[0]) }, total)
	}
	all.statistics = from(func(r *ir.Recorder, total *ir.Value) *ir.Value { return pair(r, total, false) })
	all.sample = from(func(r *ir.Recorder, total *ir.Value) *ir.Value { return pair(r, total, true) })
	all.share = from(func(r *ir.Recorder, total *ir.Value) *ir.Value {
		return r.Record(ir.Div{}, fill(r, elements, Float64), subvector(r, total, 2*channels, 1))
	})
	total.Release()
	return all
}

// subvector returns n elements of v, from the given one on, as a vector.
func subvector(r *ir.Recorder, v *ir.Value, from, n int) *ir.Value {
	return r.Record(ir.Slice{Axis: 0, From: from, To: from + n}, r.Reshape(v, []int{v.Len()}))
}

// gradient returns Σ dy and Σ dy·x̂ over all processes, times this process's fraction of the
// elements; the gradient of x divides them by the number of local elements.
func (p groupStatistics) gradient(sums *ir.Value, group processGroup) *ir.Value {
	own := wrap(sums)
	idle := group.Idle()
	total := allReduce(group, arrange(composite{name: "SyncBatchNorm"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		flat := cast(r, r.Reshape(v[0], []int{v[0].Len()}), Float64)
		if idle {
			return r.Record(ir.Fill{Shape: flat.Shape(), DType: Float64})
		}
		return r.Record(ir.Copy{}, flat)
	}, own))
	out := arrange(composite{name: "SyncBatchNorm"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		mine := r.Record(ir.Mul{}, v[0], v[1])
		if idle { // x is a placeholder and gets no gradient
			mine = r.Record(ir.Fill{Shape: mine.Shape(), DType: Float64})
		}
		return cast(r, r.Reshape(mine, sums.Shape()), sums.DType())
	}, total, p.share)
	total.Release()
	for _, t := range []*Tensor{own, out} { // Backward holds what it needs
		t.v.Drop()
	}
	return out.v
}

// processGroup sums over the processes.
type processGroup = tensors.ProcessGroup[*Tensor]

// allReduce returns the sum of t over all processes.
func allReduce(group processGroup, t *Tensor) *Tensor {
	total, err := group.AllReduce(t)
	if err != nil {
		panic(&AllReduceError{Op: "SyncBatchNorm", Err: err})
	}
	return total
}
