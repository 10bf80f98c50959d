package rt

import (
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/interp/stack"
)

// Deferred is the state of the deferred calls of one activation that run because of a panic, or because its goroutine exits.
type Deferred struct {
	panic  *Raised // the current panic
	goexit *Raised // the call of runtime.Goexit because of which the deferred calls run
}

// Gone reports whether the calling goroutine is ending and must not run deferred calls.
func (r *routines) Gone() bool { return r.config.Gone != nil && r.config.Gone() }

// CallValue runs a deferred call of a function that may call recover on another thread of the VM, which calls [Registry.Recoverer] to
// get d. depth is the number of activations of the VM from call to the function, both included.
func (d *Deferred) CallValue(call func(), depth int) {
	id := stack.ID()
	outer, nested := recovering.Load(id)
	recovering.Store(id, &runningDeferred{d, depth})
	runningCount.Add(1)
	defer func() {
		runningCount.Add(-1)
		if nested {
			recovering.Store(id, outer)
		} else {
			recovering.Delete(id)
		}
	}()
	callDeferred(call)
}

// Recover implements recover() in a function literal that is itself the operand of a
// defer statement. It does not recover a value with a method Uncatchable, such as the
// interrupt of a session.
func (d *Deferred) Recover() any {
	p := d.panic
	if p == nil {
		return nil
	}
	if _, ok := p.Value.(uncatchable); ok {
		return nil
	}
	d.panic, p.Recovered = nil, true
	return p.Value
}

// Exiting reports whether the deferred calls run because of a call of runtime.Goexit.
func (d *Deferred) Exiting() bool { return d.goexit != nil }

// Cause returns why the deferred calls run: the current panic or call of runtime.Goexit; nil if the function has returned.
func (d *Deferred) Cause() *Raised {
	if d.panic != nil {
		return d.panic
	}
	return d.goexit
}

// Raise makes value the current panic. It was raised by a deferred call that ran because of cause, which is nil if it was not
// raised by a deferred call.
func (d *Deferred) Raise(value any, cause *Raised) {
	d.panic = raisedWith(value)
	d.panic.replace(cause)
}

// Exit ends the current panic by a call of runtime.Goexit; for cause, see Raise.
func (d *Deferred) Exit(cause *Raised) {
	d.panic, d.goexit = nil, exited()
	d.goexit.replace(cause)
}

// Continue panics again with the current panic, if there is one.
func (d *Deferred) Continue() {
	d.Cause().pass()
	if d.panic != nil {
		panic(d.panic.Value)
	}
}

// runningDeferred is a deferred call of CallValue that is running.
type runningDeferred struct {
	d     *Deferred
	depth int // of the function that may recover
}

// recovering maps each goroutine to the CallValue call that it runs. runningCount counts
// these calls.
var (
	recovering   sync.Map
	runningCount atomic.Int64
)

// Recoverer returns the Deferred whose Recover method implements recover() in the calling
// lowered function. A function that calls recover and is not deferred as a literal calls
// Recoverer at its start.
func (r *routines) Recoverer() *Deferred {
	if f := r.deferredCaller(); f != nil {
		return f.d
	}
	return &Deferred{}
}

// deferredCaller returns the running deferred call if the calling lowered function is
// its function. It returns nil if that function called the caller, for instance.
func (r *routines) deferredCaller() *runningDeferred {
	if runningCount.Load() == 0 {
		return nil
	}
	x, ok := recovering.Load(stack.ID())
	if !ok {
		return nil
	}
	f := x.(*runningDeferred)
	if len(r.config.Activations) > 0 && r.activations(f.depth) != f.depth {
		return nil
	}
	return f
}

// callDeferred marks a position on the stack: activations counts from here.
//
//go:noinline
func callDeferred(call func()) { call() }

var callDeferredName = runtime.FuncForPC(reflect.ValueOf(callDeferred).Pointer()).Name()

// activations counts the activations of lowered code since callDeferred. It stops
// counting above limit.
func (r *routines) activations(limit int) (n int) {
	var callers [64]uintptr
	for skip := 2; n <= limit; skip += len(callers) {
		got := runtime.Callers(skip, callers[:])
		frames := runtime.CallersFrames(callers[:got])
		for {
			frame, more := frames.Next()
			if frame.Function == callDeferredName {
				return n
			}
			if slices.Contains(r.config.Activations, frame.Function) {
				n++
			}
			if !more {
				break
			}
		}
		if got < len(callers) {
			break
		}
	}
	return n
}
