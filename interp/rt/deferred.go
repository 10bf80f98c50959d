package rt

import (
	"bytes"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// Deferred is the list of deferred calls of one activation of a lowered function.
// Lowered code does not use yaegi's own defer, which has three defects: arguments are
// not copied, a panic in a deferred call drops the remaining calls, and a deferred call
// that calls a closure of the function waits forever.
//
// A Deferred belongs to the goroutine that runs [Protect].
type Deferred struct {
	position      *int // the interpreted position variable
	panicPosition int  // its value when the current panic began
	calls         []func()
	panic         *Raised // the current panic
	goexit        *Raised // the call of runtime.Goexit because of which the deferred calls run
	returned      bool
	gone          func() bool // see Config.Gone; may be nil
}

// Protect runs body, which may push deferred calls. It runs these calls, last first,
// when body returns, panics or ends its goroutine, with the semantics of Go: a panic in
// a deferred call replaces the current one, the remaining calls still run, and a panic
// that none of them recovers continues. Then *position has the value again that it had
// when the panic began.
func (r *routines) Protect(position *int, body func(d *Deferred)) {
	d := &Deferred{position: position, gone: r.config.Gone}
	defer d.finish()
	body(d)
	d.returned = true
}

// Gone reports whether the calling goroutine is ending and must not run deferred calls.
func (r *routines) Gone() bool { return r.config.Gone != nil && r.config.Gone() }

func (d *Deferred) isGone() bool { return d.gone != nil && d.gone() }

// Push defers call.
func (d *Deferred) Push(call func()) { d.calls = append(d.calls, call) }

// PushValue defers the call of a function that may call recover, or that is not known
// when the code is lowered. The function calls [Registry.Recoverer] to get d. depth is
// the number of activations of lowered code from call to the function, both included.
func (d *Deferred) PushValue(call func(), depth int) {
	d.Push(func() { d.CallValue(call, depth) })
}

// CallValue runs a deferred call of PushValue.
func (d *Deferred) CallValue(call func(), depth int) {
	id := goroutine()
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
	if _, ok := p.raised.(uncatchable); ok {
		return nil
	}
	d.panic, p.Recovered = nil, true
	return p.Value
}

// Panicking reports whether the deferred calls run because of a panic.
func (d *Deferred) Panicking() bool { return d.panic != nil }

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
	if d.position != nil {
		d.panicPosition = LoadPosition(d.position)
	}
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
		if d.position != nil {
			StorePosition(d.position, d.panicPosition)
		}
		panic(d.panic.raised)
	}
}

// runningDeferred is a deferred call of PushValue that is running.
type runningDeferred struct {
	d     *Deferred
	depth int // of the function that may recover
}

// recovering maps each goroutine to the PushValue call that it runs. runningCount counts
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

// Forwards is called by functions that only forward to another one that may call
// recover, for instance a method value. In Go the target counts as deferred itself.
// activations is the number of extra activations until the target.
func (r *routines) Forwards(activations int) {
	if f := r.deferredCaller(); f != nil {
		f.depth += activations
	}
}

// deferredCaller returns the running deferred call if the calling lowered function is
// its function. It returns nil if that function called the caller, for instance.
func (r *routines) deferredCaller() *runningDeferred {
	if runningCount.Load() == 0 {
		return nil
	}
	x, ok := recovering.Load(goroutine())
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

// goroutine returns the ID of the calling goroutine. The runtime only reports it in the
// first line of a stack trace: "goroutine 7 [running]:".
func goroutine() uint64 {
	var buf [64]byte
	text := buf[:runtime.Stack(buf[:], false)]
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	id, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

func (d *Deferred) finish() {
	if r := recover(); r != nil {
		d.Raise(r, nil)
	} else if !d.returned {
		if d.isGone() {
			return
		}
		d.Exit(nil)
	}
	d.drain()
	d.Continue()
}

// drain runs the remaining calls, even if one of them ends the goroutine.
func (d *Deferred) drain() {
	for len(d.calls) > 0 {
		last := len(d.calls) - 1
		call := d.calls[last]
		d.calls = d.calls[:last]
		d.run(call)
	}
}

func (d *Deferred) run(call func()) {
	returned, cause := false, d.Cause()
	defer func() {
		if returned {
			return
		}
		switch r := recover(); {
		case r != nil:
			d.Raise(r, cause)
		case d.isGone():
			return
		default:
			d.Exit(cause)
		}
		// On top of the stack at the time of the panic, which shows that the goroutine is panicking.
		d.drain()
		d.Continue()
	}()
	call()
	returned = true
}
