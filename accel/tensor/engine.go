package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/goroutine"
	"github.com/quernlab/quern/accel/internal/ir"
)

// engine is the recorder that all tensors share, and its lock. There is one
// list of recorded ops, as there is one device at a time; it lives as long as the
// process.
//
// The goroutine that has the lock may enter again: what Recompute runs records
// its ops while the recorder is in the midst of one.
type engine struct {
	mu       sync.Mutex
	owner    atomic.Uintptr // the goroutine that has mu, 0 if none has
	depth    int            // entries of the owner beyond its first
	recorder *ir.Recorder
	limit    int                  // of SetMemoryLimit; 0 for the default
	devices  map[string]ir.Device // that were used, by name
	tf32     bool                 // of TF32

	scopes map[goroutine.Identity]scope // of goroutines that have opened one
	now    scope                        // the owner's
}

// scope is what holds for the ops of one goroutine, as [NoGrad] and [Autocast]
// have said.
type scope struct {
	noGrad int   // how many NoGrad are open
	cast   DType // of Autocast; Float32 for none
	fp8    bool  // of AutocastFP8

	path, kind string // of In, while somebody wants to know

	computed *[]Computed // of Types; nil while nobody wants to know
}

var shared = sync.OnceValue(newEngine)

var engineMade atomic.Bool

// enter takes the lock for the goroutine and lets its scope hold.
func (e *engine) enter() {
	me := goroutine.Current()
	if e.owner.Load() == uintptr(me) { // nobody else writes what equals me
		e.depth++
		return
	}
	e.mu.Lock()
	e.owner.Store(uintptr(me))
	e.now = scope{}
	if len(e.scopes) > 0 {
		e.now = e.scopes[me]
	}
	e.recorder.NoGrad(e.now.noGrad)
	e.recorder.SetLayer(e.now.path, e.now.kind)
}

// leave gives the lock back.
func (e *engine) leave() {
	if e.depth > 0 {
		e.depth--
		return
	}
	e.recorder.NoGrad(-e.now.noGrad)
	e.owner.Store(0)
	e.mu.Unlock()
}

// locked runs f with the engine's lock, which is given back if f panics.
func locked(f func(r *ir.Recorder)) {
	e := shared()
	e.enter()
	defer e.leave()
	f(e.recorder)
}

// within runs f with another scope for this goroutine.
func within(change func(*scope), f func()) {
	var before scope
	set := func(s scope) {
		e := shared()
		e.enter()
		defer e.leave()
		e.recorder.NoGrad(s.noGrad - e.now.noGrad)
		e.recorder.SetLayer(s.path, s.kind)
		e.now = s
		if me := goroutine.Current(); s == (scope{}) {
			delete(e.scopes, me)
		} else {
			e.scopes[me] = s
		}
	}
	locked(func(*ir.Recorder) { before = shared().now })
	after := before
	change(&after)
	set(after)
	defer set(before)
	f()
}

// record appends one op whose inputs are tensors.
func record(op ir.Op, in ...*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	var room [4]*ir.Value
	values := e.prepare(room[:0], op.Name(), in)
	y := e.recordCast(op, values)
	if !moves(op) && !compares(op) {
		e.tell(op.Name(), values, y)
	}
	return wrap(y)
}

// recordCast records an op; 16-bit floats are widened before and the result is rounded
// after.
func (e *engine) recordCast(op ir.Op, values []*ir.Value) *ir.Value {
	if half, back := has16Bit(values); half && !moves(op) {
		switch {
		case compares(op):
			back = Float32
		case op.Name() == "Where": // whatever the mask is
			_, back = has16Bit(values[1:])
		}
		return narrow(e.recorder, e.recorder.Record(op, widen(e.recorder, values)...), back)
	}
	return e.recorder.Record(op, values...)
}

// prepare returns the values of an op's inputs, in the types that Autocast wants.
func (e *engine) prepare(values []*ir.Value, op string, in []*Tensor) []*ir.Value {
	for _, t := range in {
		values = append(values, t.value(op))
	}
	e.recorder.Trim()
	if e.now.cast != Float32 {
		return autocast(e.recorder, e.now.cast, op, values)
	}
	return values
}

// compute records what f does with the tensors' values, under the lock. 16-bit
// floats are widened before and the result is rounded after.
func compute(op string, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
	return arrange(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		half, back := has16Bit(v)
		if !half {
			y := f(r, v)
			shared().tell(op, v, y)
			return y
		}
		if followsFirst(op) {
			back = v[0].DType()
		}
		y := narrow(r, f(r, widen(r, v)), back)
		shared().tell(op, v, y)
		return y
	}, in...)
}

// arrange is compute for ops that only move elements.
func arrange(op string, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	var room [4]*ir.Value
	values := e.prepare(room[:0], op, in)
	defer callIt(op)
	return wrap(f(e.recorder, values))
}

// callIt is deferred by an op that is made of others: errors of these have the
// name that the user called.
func callIt(op string) {
	p := recover()
	switch e := p.(type) {
	case nil:
		return
	case *ShapeError:
		e.Op = op
	case *DTypeError:
		e.Op = op
	}
	panic(p)
}

// Flush runs everything that was recorded. Item, Data and the optimisers call
// it; nobody else needs to.
func Flush() { locked((*ir.Recorder).Flush) }

// Synchronize runs everything that was recorded and waits until the device has done
// it, as a measurement of time must. It panics with the error that the device has
// met.
func Synchronize() { locked((*ir.Recorder).Wait) }

// NoGrad runs f; what this goroutine computes meanwhile has no gradient. Other
// goroutines, those that f starts among them, go on as they are. Updates of
// parameters and evaluation belong in it.
func NoGrad(f func()) { within(func(s *scope) { s.noGrad++ }, f) }

// Statistics counts what the engine did since the last ResetStats.
type Statistics = ir.Stats

// DeviceCounts is what was asked of a GPU.
type DeviceCounts = ir.DeviceCounts

// Stats returns the counts.
func Stats() (s Statistics) {
	locked(func(r *ir.Recorder) { s = r.Stats() })
	return s
}

// ResetStats sets the counts to zero.
func ResetStats() { locked((*ir.Recorder).ResetStats) }
