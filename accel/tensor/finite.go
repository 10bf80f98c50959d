package tensor

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// NonFiniteError says that a tensor checked by [Tensor.RequireFinite] has NaN or an infinity.
type NonFiniteError = ir.NonFiniteError

// RequireFinite returns t with a check: if a step runs in which t has NaN or an infinity, the step
// fails with a *NonFiniteError, and parameters and everything else that the step would have
// assigned keep their values. what names t in the error, such as "loss". Gradients flow through it.
// For a scalar it costs next to nothing:
//
//	loss := nn.CrossEntropy(model.Forward(x), y).RequireFinite("loss")
//	loss.Backward()
//	opt.Step() // panics with the error and does not change the model
func (t *Tensor) RequireFinite(what string) *Tensor { return record(ir.Finite{What: what}, t) }

// NonFinite says which op or input has NaN or an infinity.
type NonFinite = ir.NonFinite

// FindNonFinite runs f, for example the forward and backward pass of a step, and returns the first
// op whose result has NaN, or else the first with an infinity; nil if all values are finite. It is
// slow because it runs ops one by one and keeps all their results; use it to find out why a loss
// became NaN, as torch.autograd.detect_anomaly. Ops that other goroutines record meanwhile are
// checked too.
func FindNonFinite(f func()) (found *NonFinite) {
	locked(func(r *ir.Recorder) { r.Watch(true) })
	defer locked(func(r *ir.Recorder) { found = r.Watch(false) })
	defer tensors.KeepNames()()
	f()
	return nil
}
