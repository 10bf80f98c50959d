package rt

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// Deferred is the list of deferred calls of one activation of a lowered
// function. Lowered code does not use the engine's own defer: there, arguments
// are not copied, a panic in a deferred call drops the calls before it, and a
// closure of the function that a deferred call calls waits for ever.
//
// A Deferred belongs to the goroutine that runs [Protect].
type Deferred struct {
	position  *int // the interpreted position variable
	raised    int  // its value when the current panic began
	calls     []func()
	panicking bool
	value     any
}

// Protect runs body as a function that may push deferred calls, and runs them,
// last first, when body returns, panics or ends its goroutine, with the
// semantics of Go: a panic in a deferred call replaces the current one, the
// calls that are left still run, a panic that none of them recovers goes on.
// When it does, *position is again what it was when the panic began.
func Protect(position *int, body func(d *Deferred)) {
	d := &Deferred{position: position}
	defer d.finish()
	body(d)
}

// Push defers call.
func (d *Deferred) Push(call func()) { d.calls = append(d.calls, call) }

// PushValue defers the call of a function that is not known when the code is
// lowered: a [Recover] in it recovers the panic of d.
func (d *Deferred) PushValue(call func()) {
	d.Push(func() {
		id := goroutine()
		outer, nested := recovering.Load(id)
		recovering.Store(id, d)
		defer func() {
			if nested {
				recovering.Store(id, outer)
			} else {
				recovering.Delete(id)
			}
		}()
		call()
	})
}

// Recover is the recover() of a function literal that is itself the operand of
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

// recovering holds, by goroutine, the Deferred whose function value is running.
var recovering sync.Map

// Recover is the recover() of any other function: it recovers when the function
// was deferred as a value. Unlike Go's it also does when such a function calls
// the one that calls Recover.
func Recover() any {
	if d, ok := recovering.Load(goroutine()); ok {
		return d.(*Deferred).Recover()
	}
	return nil
}

// goroutine is the number of the calling goroutine, which the runtime tells
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
		} else if !returned {
			d.drain()
		}
	}()
	call()
	returned = true
}
