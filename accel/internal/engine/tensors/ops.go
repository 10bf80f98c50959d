package tensors

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// Quantized returns the output of a network of 8-bit integers for x; package quantize makes such
// networks from layers. No gradient flows through it. If x has NaN or an infinity, which int8
// cannot represent, the run fails with a *NonFiniteError.
func Quantized[T any](x T, network *integer.Network) T {
	return of[T]().Record(ir.Quantized{}, func(r *ir.Recorder, v *ir.Value) *ir.Value {
		return r.Record(ir.Quantized{Network: network}, v)
	}, x)
}

// Int8Linear returns x·wᵀ for x [… In] and int8 weights [Out, In], which package quantize makes. No
// gradient flows through it.
func Int8Linear[T any](x T, weights *integer.Weights) T {
	return of[T]().Record(ir.Int8Linear{}, func(r *ir.Recorder, v *ir.Value) *ir.Value {
		shape := v.Shape()
		if len(shape) == 0 || shape[len(shape)-1] != weights.In {
			panic(&tensortype.ShapeError{Op: "Int8Linear", Shapes: [][]int{slices.Clone(shape)}, Hint: fmt.Sprintf("the last dimension must be %d, the number of input features of the weights", weights.In)})
		}
		lead := slices.Clone(shape[:len(shape)-1])
		rows := r.Reshape(v, []int{ir.Len(lead), weights.In})
		return r.Reshape(r.Record(ir.Int8Linear{Weights: weights}, rows), append(lead, weights.Out))
	}, x)
}

// RecordedAttention are the weights of an attention that [RecordAttention] recorded.
type RecordedAttention[T any] struct {
	Path, Layer string // of the layer, such as "2.0" and SelfAttention(2); empty outside of an nn.Sequential
	Weights     T      // [B, H, T, S], as those of tensor.AttentionWeights
}

// RecordAttention runs f, a pass of a model, and returns the weights of each call of tensor.Attention and
// tensor.MaskedAttention that this goroutine makes in it, in order.
func RecordAttention[T any](f func()) []RecordedAttention[T] {
	defer KeepNames()()
	return of[T]().RecordAttention(f)
}

// ProcessGroup sums over a group of processes. All of them must call it in the same order.
type ProcessGroup[T any] interface {
	// AllReduce returns the sums of t's elements over all processes; t is float64 with one dimension and
	// must not be used afterwards.
	AllReduce(t T) (T, error)
	// Idle reports whether this process has no examples. It then computes with a placeholder, so
	// that the others need not wait, and contributes nothing.
	Idle() bool
}

// SyncBatch has the inputs of [SyncBatchNorm].
type SyncBatch[T any] struct {
	X, Weight, Bias, Mean, Variance T // as those of tensor.BatchNorm
	Momentum, Epsilon               float64
	Group                           ProcessGroup[T]
}

// SyncBatchNorm is tensor.BatchNorm in training with the mean and the variance of each channel over the
// batches of all processes, as if they were one batch: torch's SyncBatchNorm. The batches may
// differ in length, but X [N, C, …] must have at least one element per channel in each process.
// Weight, Bias [C] and the running Mean and Variance [C] are those of BatchNorm; the running
// variance is unbiased over the elements of all processes.
//
// The gradient is that of the sum of all processes' losses: X gets the gradient of all losses,
// Weight and Bias get this process's part.
//
// Each process sends 2C+1 values in the forward pass and 2C in the backward pass. It panics with a
// *tensor.AllReduceError if they cannot be summed.
func SyncBatchNorm[T any](b SyncBatch[T]) T { return of[T]().SyncBatchNorm(b) }

// Compute records what f returns for the values of tensors, as one op with a name. The ops that f records need no tensors
// for their results. 16-bit floats are cast to float32 before and back after.
func Compute[T any](name string, f func(r *ir.Recorder, in []*ir.Value) *ir.Value, in ...T) T {
	return of[T]().Compute(name, f, in...)
}

// Together runs f with the engine locked for this goroutine, so that the ops of f need not wait for the lock one by one. f must not wait
// for another goroutine.
func Together(f func()) { engine.Locked(func(*ir.Recorder) { f() }) }

// RecordKernel records what f returns for the values of tensors, as one op with a name.
func RecordKernel[T any](name string, f func(r *ir.Recorder, in []*ir.Value) *ir.Value, in ...T) T {
	return of[T]().RecordKernel(name, f, in...)
}

// MeasureKernel runs a kernel a number of times on copies of those tensors that it changes.
func MeasureKernel[T any](k ir.Kernel, arguments []T, written []bool, runs int) (m ir.Measurement, err error) {
	engine.Locked(func(r *ir.Recorder) {
		values := make([]*ir.Value, len(arguments))
		for i, t := range arguments {
			values[i] = of[T]().HoldValue(t, "Profile")
		}
		m, err = r.MeasureKernel(k, values, written, runs)
	})
	return m, err
}

// LaunchKernel runs a kernel that a program has written on tensors; written says which of them it changes.
func LaunchKernel[T any](k ir.Kernel, arguments []T, written []bool) (err error) {
	engine.Locked(func(r *ir.Recorder) {
		holders := make([]**ir.Value, len(arguments))
		for i, t := range arguments {
			of[T]().HoldValue(t, "Launch")
			holders[i] = of[T]().Holder(t)
		}
		err = r.LaunchKernel(k, holders, written)
	})
	return err
}

// Recurrence is one layer of a recurrent network in one direction, for N sequences of T steps and H
// hidden units: the cells of PyTorch's RNN, LSTM and GRU, with the gates in the same order. [Recurrence.Run] computes it.
//
// A cell computes the next state h' from the previous state h. Here x is the part of the gates that the input
// determines, g = x + Weight·h, and σ is the sigmoid:
//
//	TanhCell  h' = tanh(g)
//	ReLUCell  h' = max(g, 0)
//	LSTMCell  gates i, f, g, o, and a second state c
//	          c' = σ(f)·c + σ(i)·tanh(g)
//	          h' = σ(o)·tanh(c')
//	GRUCell   gates r, z, n, of which n is computed from the parts of the input and of the previous state,
//	          with the bias b of the latter
//	          n  = tanh(xₙ + σ(r)·(Weightₙ·h + bₙ))
//	          h' = (1 - σ(z))·n + σ(z)·h
type Recurrence[T any] struct {
	Cell   ir.Cell // the kind of layer, which determines the number of gates
	X      T       // [T, N, gates·H]: the input's part of the gates, with all biases but Bias
	Weight T       // [gates·H, H]: of the previous state
	Bias   T       // [gates·H] of a GRUCell: added to Weight·h; nil for none and for other cells

	H, C T // [N, H]: the initial state, nil for zeros; only an LSTMCell has C

	// Lengths [N], of type int32, is the number of steps of each sequence; later steps are padding,
	// which leaves the state as it is and for which the output is 0. A length outside of 1..T is an
	// *IndexError. nil means that all T are valid.
	Lengths T
	Reverse bool // begins with the last step
}

// Run returns the state after each step, y [T, N, H], and the final state h [N, H] and c [N, H],
// which is nil unless the cell is an LSTMCell. It panics with a *ShapeError, a *DTypeError or an
// *IndexError if the tensors do not fit together.
func (r Recurrence[T]) Run() (y, h, c T) { return of[T]().Run(r) }

// Exchange returns a tensor with the elements of forward(x) whose gradient backward maps to that of
// x; both may exchange elements with other processes, which must make the same calls in the same order.
// nil stands for the identity. forward and backward return their argument or a new tensor. The engine is
// locked while they run, so that other goroutines cannot compute until the other processes have answered.
//
// In tensor parallelism, the operator f of Megatron-LM is the sum of the processes' gradients as
// backward, and g is the sum of their results as forward (Shoeybi et al., arXiv:1909.08053).
func Exchange[T Tensor](x T, forward, backward func(T) T) (y T) {
	engine.Locked(func(r *ir.Recorder) {
		v := of[T]().Value(x, "Exchange")
		result := v
		var made T
		if forward != nil {
			r.NoGrad(1)
			func() {
				defer r.NoGrad(-1) // also if it panics
				made = forward(x)
			}()
			result = of[T]().Value(made, "Exchange")
		}
		held := result
		result = r.WithoutGrad(func() *ir.Value { return r.Record(ir.Alias{}, held) })
		y = of[T]().Wrap(r.Record(ir.Exchange{Back: func(dy *ir.Value) *ir.Value {
			if backward == nil {
				return dy
			}
			before := of[T]().Wrap(dy)
			after := backward(before)
			out := r.Record(ir.Alias{}, of[T]().Value(after, "Exchange"))
			if before.Release(); after != before {
				after.Release()
			}
			return out
		}}, result, v))
		var none T
		if made != none && made != x {
			made.Release()
		}
	})
	return y
}
