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

// Deferred is the list of deferred calls of one activation of a lowered
// function. Lowered code does not use yaegi's own defer: there, arguments
// are not copied, a panic in a deferred call drops the calls before it, and a
// closure of the function that a deferred call calls waits forever.
//
// A Deferred belongs to the goroutine that runs [Protect].
type Deferred struct {
	position  *int // the interpreted position variable
	raised    int  // its value when the current panic began
	calls     []func()
	panicking bool
	value     any
	returned  bool
	gone      func() bool // see Config.Gone; may be nil
}

// Protect runs body as a function that may push deferred calls, and runs them,
// last first, when body returns, panics or ends its goroutine, with the
// semantics of Go: a panic in a deferred call replaces the current one, the
// calls that are left still run, a panic that none of them recovers goes on.
// When it does, *position is again what it was when the panic began.
func (r *Registry) Protect(position *int, body func(d *Deferred)) {
	d := &Deferred{position: position, gone: r.config.Gone}
	defer d.finish()
	body(d)
	d.returned = true
}

// Gone reports whether the calling goroutine, which ends, makes no deferred calls.
func (r *Registry) Gone() bool { return r.config.Gone != nil && r.config.Gone() }

// isGone is Gone.
func (d *Deferred) isGone() bool { return d.gone != nil && d.gone() }

// Push defers call.
func (d *Deferred) Push(call func()) { d.calls = append(d.calls, call) }

// PushValue defers the call of a function that may call recover, or is not known
// when the code is lowered. The function asks [Registry.Recoverer] for d. depth is
// how many activations of lowered code there are from call to the function, it
// and call included.
func (d *Deferred) PushValue(call func(), depth int) {
	d.Push(func() { d.CallValue(call, depth) })
}

// CallValue makes a deferred call as PushValue says.
func (d *Deferred) CallValue(call func(), depth int) {
	id := goroutine()
	outer, nested := recovering.Load(id)
	recovering.Store(id, &recoverable{d, depth})
	waiting.Add(1)
	defer func() {
		waiting.Add(-1)
		if nested {
			recovering.Store(id, outer)
		} else {
			recovering.Delete(id)
		}
	}()
	callDeferred(call)
}

// Recover returns the recover() of a function literal that is itself the operand of
// a defer statement. A value with a method Uncatchable, such as the interrupt of
// a session, is not recovered.
func (d *Deferred) Recover() any {
	if !d.panicking {
		return nil
	}
	if _, ok := d.value.(interface{ Uncatchable() }); ok {
		return nil
	}
	d.panicking = false
	return d.value
}

// Panicking reports whether the deferred calls run because of a panic.
func (d *Deferred) Panicking() bool { return d.panicking }

// Raise has d panic with value, for a caller that runs the deferred calls itself.
func (d *Deferred) Raise(value any) { d.raise(value) }

// Value returns the value of the panic.
func (d *Deferred) Value() any { return d.value }

// recoverable is a deferred function value that runs.
type recoverable struct {
	d     *Deferred
	depth int // of the function that may recover
}

// recovering holds, by goroutine, what PushValue runs, and waiting how many
// there are.
var (
	recovering sync.Map
	waiting    atomic.Int64
)

// Recoverer returns what recover() of the calling function of lowered code is to ask.
// A function that calls recover and is not deferred as a literal gets it at its
// begin.
func (r *Registry) Recoverer() *Deferred {
	if f := r.deferredCaller(); f != nil {
		return f.d
	}
	return &Deferred{}
}

// Forwards is called by functions that lowering makes to call another one, the
// value of a method for instance, if that may call recover: Go counts it as if it
// had been deferred itself. activations is how many there are on the way to it.
func (r *Registry) Forwards(activations int) {
	if f := r.deferredCaller(); f != nil {
		f.depth += activations
	}
}

// deferredCaller returns the deferred call that the calling function of lowered code
// is the function of; nil when it is not, as when that function called it.
func (r *Registry) deferredCaller() *recoverable {
	if waiting.Load() == 0 {
		return nil
	}
	x, ok := recovering.Load(goroutine())
	if !ok {
		return nil
	}
	f := x.(*recoverable)
	if len(r.config.Activations) > 0 && r.activations(f.depth) != f.depth {
		return nil
	}
	return f
}

// callDeferred marks the stack: activations counts from here.
//
//go:noinline
func callDeferred(call func()) { call() }

var callDeferredName = runtime.FuncForPC(reflect.ValueOf(callDeferred).Pointer()).Name()

// activations counts the activations of lowered code since callDeferred. It does
// not count on above limit.
func (r *Registry) activations(limit int) (n int) {
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

// goroutine returns the number of the calling goroutine, which the runtime tells
// only as the first line of a stack trace: "goroutine 7 [running]:".
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
		d.raise(r)
	} else if !d.returned && d.isGone() {
		return
	}
	d.drain()
	if d.panicking {
		if d.position != nil {
			StorePosition(d.position, d.raised)
		}
		panic(d.value)
	}
}

func (d *Deferred) raise(value any) {
	d.panicking, d.value = true, Recovered(value)
	if d.position != nil {
		d.raised = LoadPosition(d.position)
	}
}

// drain runs the calls that are left, also when one of them ends the goroutine.
func (d *Deferred) drain() {
	for len(d.calls) > 0 {
		last := len(d.calls) - 1
		call := d.calls[last]
		d.calls = d.calls[:last]
		d.run(call)
	}
}

func (d *Deferred) run(call func()) {
	returned := false
	defer func() {
		if r := recover(); r != nil {
			d.raise(r)
		} else if !returned && !d.isGone() {
			d.drain()
		}
	}()
	call()
	returned = true
}
