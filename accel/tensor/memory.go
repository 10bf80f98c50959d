package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// SetMemoryLimit bounds the bytes that tensors and the temporaries of plans may
// take on the device, and returns the old bound; 0 means none, and is the
// default. An op, or the run of a list, that would go beyond panics with an
// *OutOfMemoryError; tensors that exist stay as they are, parameters of a failed
// step too, and the session goes on. Tensors that nobody can reach any more are
// collected before it comes to that.
func SetMemoryLimit(bytes int) (old int) {
	locked(func(r *ir.Recorder) { old = r.SetLimit(max(bytes, 0)) })
	return old
}

// NonFinite says where NaN or an infinity came up.
type NonFinite = ir.NonFinite

// FindNonFinite runs f, for example the forward and backward pass of a step, and
// tells which op first gave NaN, or without one an infinity; nil if all numbers
// are finite. Ops run one by one meanwhile and all their results are kept, so it
// is slow: it is for finding out why a loss became NaN. Ops of other goroutines
// are looked at too.
func FindNonFinite(f func()) (found *NonFinite) {
	locked(func(r *ir.Recorder) { r.Watch(true) })
	defer locked(func(r *ir.Recorder) { found = r.Watch(false) })
	f()
	return nil
}
