package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// NonFiniteError says that a tensor that [Tensor.RequireFinite] watches has NaN or
// an infinity.
type NonFiniteError = ir.NonFiniteError

// RequireFinite is t, through which gradients flow, with a watch: when a step is
// run in which t has NaN or an infinity, the step ends with a *NonFiniteError, and
// parameters and all else that the step would have assigned stay as they were
// before it. what is what t is called in the error, such as "loss". It costs next
// to nothing for a single number:
//
//	loss := nn.CrossEntropy(model.Forward(x), y).RequireFinite("loss")
//	loss.Backward()
//	opt.Step() // panics with the error, and leaves the model alone
func (t *Tensor) RequireFinite(what string) *Tensor { return record(ir.Finite{What: what}, t) }

// NonFinite says where NaN or an infinity came up.
type NonFinite = ir.NonFinite

// FindNonFinite runs f, for example the forward and backward pass of a step, and
// tells which op first gave NaN, or without one an infinity; nil if all numbers
// are finite. Ops run one by one meanwhile and all their results are kept, so it
// is slow: it is for finding out why a loss became NaN. Ops of other goroutines
// are looked at too.
func FindNonFinite(f func()) (found *NonFinite) {
	locked(func(r *ir.Recorder) { r.Watch(true) })
	watched.Add(1)
	defer locked(func(r *ir.Recorder) { found = r.Watch(false) })
	defer watched.Add(-1)
	f()
	return nil
}
