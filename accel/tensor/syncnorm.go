package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Across adds up over the processes of a group, which all do it in the same order.
type Across interface {
	// Sum gives the sums of t's elements over all processes; t is float64, of one
	// dimension, and is not used again.
	Sum(t *Tensor) (*Tensor, error)
	// Idle tells that this process has no examples: it computes with a stand-in for
	// them, so that the others need not wait, and counts for nothing.
	Idle() bool
}

// AcrossError says that processes could not add up what a layer measures over all of
// them.
type AcrossError struct {
	Op  string
	Err error
}

// Error names the op and the reason.
func (e *AcrossError) Error() string { return fmt.Sprintf("%s: sum over ranks: %v", e.Op, e.Err) }

// Unwrap returns the reason.
func (e *AcrossError) Unwrap() error { return e.Err }

// SyncBatchNorm is [BatchNorm] in training with the mean and the variance of each
// channel over the batches of several processes, as if all were one batch; torch's
// SyncBatchNorm. The processes may have batches of different length. x [N, C, …] has at
// least one element of each channel in each, and weight, bias [C], and the running mean
// and variance [C] are as there; the running variance moves towards
// the one that divides by one less than the elements of all.
//
// The gradient is that of the sum of all processes' losses: what flows into x comes from
// the losses of all, and weight and bias get this process's part.
//
// Each process sends 2C+1 numbers in the forward pass and 2C in the backward pass. It
// panics with an [*AcrossError] where they cannot be added up.
//
// The statistics of process r, n_r elements with mean m_r and variance v_r, are added up
// as n_r, n_r·m_r and n_r·(v_r + m_r²) in float64.
func SyncBatchNorm(x, weight, bias, mean, variance *Tensor, momentum, epsilon float64, across Across) *Tensor {
	shape := x.Shape()
	if len(shape) < 2 {
		panic(&ShapeError{Op: "SyncBatchNorm", Shapes: [][]int{shape}, Hint: "x [N C …] is needed"})
	}
	if (mean == nil) != (variance == nil) {
		panic(&StateError{Op: "SyncBatchNorm", Hint: "running mean and variance must both be there, or neither"})
	}
	var all pooled
	NoGrad(func() { all = newPooled(x, across) })
	return compute("BatchNorm", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		channels := []int{shape[1]}
		parameters := v[2:]
		for _, p := range parameters {
			if !slices.Equal(p.Shape(), channels) {
				panic(&ShapeError{Op: "SyncBatchNorm", Shapes: [][]int{shape, slices.Clone(p.Shape())}, Hint: "parameters, mean and variance must be " + ir.FormatShape(channels)})
			}
		}
		parameter := func(t *Tensor, value float64) *ir.Value {
			if t == nil {
				return r.Record(ir.Fill{Value: value, Shape: channels, DType: v[0].DType()})
			}
			p := parameters[0]
			parameters = parameters[1:]
			return p
		}
		w, b := parameter(weight, 1), parameter(bias, 0)
		r.NoGrad(1)
		statistics := cast(r, v[1], v[0].DType())
		r.NoGrad(-1)
		if mean != nil && !r.Replaying() {
			sample := all.sample.known("SyncBatchNorm")
			move(r, mean, sample, 0, momentum, 1)
			move(r, variance, sample, 1, momentum, 1)
		}
		return r.Record(ir.BatchNorm{Epsilon: epsilon, Training: true, Across: func(sums *ir.Value) *ir.Value {
			return all.gradient(sums, across)
		}}, v[0], statistics, w, b)
	}, existing(x, all.statistics, weight, bias, mean, variance)...)
}

// existing returns the tensors that are there.
func existing(tensors ...*Tensor) []*Tensor {
	return slices.DeleteFunc(tensors, func(t *Tensor) bool { return t == nil })
}

// pooled is what several processes have measured together, in float64.
type pooled struct {
	statistics *Tensor // mean and variance [2, C]
	sample     *Tensor // the same with the variance of a sample
	share      *Tensor // of this process in all elements [1]
}

// newPooled measures x [N, C, …] over all processes.
func newPooled(x *Tensor, across Across) (all pooled) {
	channels := x.Size(1)
	elements := float64(x.Numel() / max(channels, 1))
	packed := arrange("SyncBatchNorm", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		if across.Idle() {
			return r.Record(ir.Fill{Shape: []int{2*channels + 1}, DType: Float64})
		}
		own := cast(r, r.Record(ir.BatchStatistics{}, widen(r, v)[0]), Float64)
		mean, variance := part(r, own, 0, channels), part(r, own, channels, channels)
		squares := r.Add(variance, r.Record(ir.Square{}, mean))
		return r.MulScalar(r.Record(ir.Concat{}, mean, squares, r.Record(ir.Fill{Value: 1, Shape: []int{1}, DType: Float64})), elements)
	}, x)
	total := addAcross(across, packed)
	pair := func(r *ir.Recorder, total *ir.Value, sample bool) *ir.Value {
		count := part(r, total, 2*channels, 1)
		mean := r.Record(ir.Div{}, part(r, total, 0, channels), count)
		variance := r.Record(ir.Sub{}, r.Record(ir.Div{}, part(r, total, channels, channels), count), r.Record(ir.Square{}, mean))
		// Of equal numbers the difference may be a little below zero.
		variance = r.Record(ir.Maximum{}, variance, fill(r, 0, Float64))
		if sample {
			rest := r.Record(ir.Maximum{}, r.Record(ir.AddScalar{Scalar: -1}, count), fill(r, 1, Float64))
			variance = r.Record(ir.Mul{}, variance, r.Record(ir.Div{}, count, rest))
		}
		return r.Reshape(r.Record(ir.Concat{}, mean, variance), []int{2, channels})
	}
	from := func(f func(r *ir.Recorder, total *ir.Value) *ir.Value) *Tensor {
		return arrange("SyncBatchNorm", func(r *ir.Recorder, v []*ir.Value) *ir.Value { return f(r, v[0]) }, total)
	}
	all.statistics = from(func(r *ir.Recorder, total *ir.Value) *ir.Value { return pair(r, total, false) })
	all.sample = from(func(r *ir.Recorder, total *ir.Value) *ir.Value { return pair(r, total, true) })
	all.share = from(func(r *ir.Recorder, total *ir.Value) *ir.Value {
		return r.Record(ir.Div{}, fill(r, elements, Float64), part(r, total, 2*channels, 1))
	})
	total.Release()
	return all
}

// part returns some elements of v from one on, as a vector.
func part(r *ir.Recorder, v *ir.Value, from, n int) *ir.Value {
	return r.Record(ir.Slice{Axis: 0, From: from, To: from + n}, r.Reshape(v, []int{v.Len()}))
}

// gradient is Σ dy and Σ dy·x̂ of all processes times this one's share, for the gradient
// of its x, which then divides by its own elements.
func (p pooled) gradient(sums *ir.Value, across Across) *ir.Value {
	own := wrap(sums)
	idle := across.Idle()
	total := addAcross(across, arrange("SyncBatchNorm", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		flat := cast(r, r.Reshape(v[0], []int{v[0].Len()}), Float64)
		if idle {
			return r.Record(ir.Fill{Shape: flat.Shape(), DType: Float64})
		}
		return r.Record(ir.Copy{}, flat)
	}, own))
	out := arrange("SyncBatchNorm", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		mine := r.Record(ir.Mul{}, v[0], v[1])
		if idle { // whose x counts for nothing, so that nothing flows into it
			mine = r.Record(ir.Fill{Shape: mine.Shape(), DType: Float64})
		}
		return cast(r, r.Reshape(mine, sums.Shape()), sums.DType())
	}, total, p.share)
	total.Release()
	for _, t := range []*Tensor{own, out} { // Backward keeps what it needs
		t.v.Drop()
	}
	return out.v
}

// addAcross returns the sum over all processes.
func addAcross(across Across, t *Tensor) *Tensor {
	total, err := across.Sum(t)
	if err != nil {
		panic(&AcrossError{Op: "SyncBatchNorm", Err: err})
	}
	return total
}
