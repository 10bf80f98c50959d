package tensors

import "github.com/quernlab/quern/accel/internal/engine/ir"

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
		r.NoGrad(1)
		result = r.Record(ir.Alias{}, result)
		r.NoGrad(-1)
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
