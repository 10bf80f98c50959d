package tensor

import (
	"sync"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/ir"
)

// engine is the recorder that all tensors share, and its lock. There is one
// list of recorded ops, as there is one device; it lives as long as the
// process.
type engine struct {
	mu       sync.Mutex
	recorder *ir.Recorder
}

var shared = sync.OnceValue(func() *engine {
	return &engine{recorder: ir.NewRecorder(cpu.New(0))}
})

// locked runs f with the engine's lock, which is given back if f panics.
func locked(f func(r *ir.Recorder)) {
	e := shared()
	e.mu.Lock()
	defer e.mu.Unlock()
	f(e.recorder)
}

// record appends one op whose inputs are tensors.
func record(op ir.Op, in ...*Tensor) *Tensor {
	e := shared()
	e.mu.Lock()
	defer e.mu.Unlock()
	var room [4]*ir.Value
	values := room[:0]
	for _, t := range in {
		values = append(values, t.value(op.Name()))
	}
	e.recorder.Trim()
	if half, back := halves(values); half && !moves(op) {
		switch {
		case compares(op):
			back = Float32
		case op.Name() == "Where": // whatever the mask is
			_, back = halves(values[1:])
		}
		return wrap(narrow(e.recorder, e.recorder.Record(op, widen(e.recorder, values)...), back))
	}
	return wrap(e.recorder.Record(op, values...))
}

// compute records what f does with the tensors' values, under the lock. 16-bit
// floats are widened before and the result is rounded after.
func compute(op string, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
	return arrange(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		if half, back := halves(v); half {
			return narrow(r, f(r, widen(r, v)), back)
		}
		return f(r, v)
	}, in...)
}

// arrange is compute for ops that only move elements.
func arrange(op string, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
	e := shared()
	e.mu.Lock()
	defer e.mu.Unlock()
	var room [4]*ir.Value
	values := room[:0]
	for _, t := range in {
		values = append(values, t.value(op))
	}
	e.recorder.Trim()
	return wrap(f(e.recorder, values))
}

// Flush runs everything that was recorded. Item, Data and the optimisers call
// it; nobody else needs to.
func Flush() { locked((*ir.Recorder).Flush) }

// NoGrad runs f; tensors computed meanwhile have no gradient, on any
// goroutine. Updates of parameters and evaluation belong in it.
func NoGrad(f func()) {
	locked(func(r *ir.Recorder) { r.NoGrad(1) })
	defer locked(func(r *ir.Recorder) { r.NoGrad(-1) })
	f()
}

// Statistics counts what the engine did since the last ResetStats.
type Statistics = ir.Stats

// Stats returns the counts.
func Stats() (s Statistics) {
	locked(func(r *ir.Recorder) { s = r.Stats() })
	return s
}

// ResetStats sets the counts to zero.
func ResetStats() { locked((*ir.Recorder).ResetStats) }
