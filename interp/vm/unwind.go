package vm

import (
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// A function that returns runs its deferred calls itself, see opRunDeferred. If it panics or its goroutine
// exits, the deferred Go function unwind runs them, on threads of their own and on top of the Go stack at
// the time of the panic, so that a traceback shows all of it. If one of them recovers, the function
// continues at its epilogue.

// deferredCall is a deferred call of a closure.
type deferredCall struct {
	function *Function
	captured uint32 // index of its captured variables in thread.captured
	frame    uint32 // call depth of the function that defers
	nb, sb   uint32 // offsets of the frame of that function in the register files
	// wrapper says that the closure only makes the call of the defer statement. The function that it calls
	// may recover.
	wrapper bool
}

// pushDeferred defers a call in the function whose frame is at nb and sb. The registers in from hold the
// addresses of the captured variables.
func (t *thread) pushDeferred(fn *Function, wrapper bool, from []uint16, nb, sb unsafe.Pointer) {
	n := len(t.deferred)
	if n < cap(t.deferred) {
		t.deferred = t.deferred[:n+1]
	} else if n >= maxDeferred {
		panic(&StackOverflow{t.depth})
	} else {
		t.deferred = append(t.deferred, deferredCall{})
	}
	call := &t.deferred[n]
	if call.function != fn {
		call.function = fn
	}
	call.wrapper = wrapper
	call.captured, call.frame = uint32(len(t.captured)), uint32(t.depth)
	call.nb, call.sb = t.offsets(nb, sb)
	for _, at := range from {
		t.captured = append(t.captured, *pointerAt(sb, at))
	}
}

// offsets returns the offsets of a frame in the register files.
func (t *thread) offsets(nb, sb unsafe.Pointer) (uint32, uint32) {
	return uint32(uintptr(nb) - uintptr(unsafe.Pointer(&t.scalars[0]))), uint32(uintptr(sb) - uintptr(unsafe.Pointer(&t.slots[0])))
}

// popDeferred removes the last deferred call of the running function from the list and returns it with its
// captured variables; nil if there is none. It looks whether the cell is interrupted while the call is still in the list, so that
// the call runs then as well.
//
//go:noinline
func (t *thread) popDeferred() (*Function, []unsafe.Pointer) {
	n := len(t.deferred) - 1
	if n < 0 || int(t.deferred[n].frame) != t.depth {
		return nil, nil
	}
	t.checkInterrupt()
	call := &t.deferred[n]
	captured := t.captured[call.captured:]
	t.deferred, t.captured = t.deferred[:n], t.captured[:call.captured]
	return call.function, captured
}

// execute runs fn, whose arguments are in the first registers, until it returns.
func (t *thread) execute(fn *Function) {
	ip := fn.entry()
	for ip != nil {
		ip = t.attempt(ip)
	}
}

// attempt runs the code of t.fn at ip. It returns nil when the first function of the thread has returned, and the
// instruction to continue at when a deferred call has recovered.
func (t *thread) attempt(ip *instruction) (resume *instruction) {
	defer t.unwind(&resume)
	t.run(t.fn, ip)
	return nil
}

// unwind is deferred by attempt. After a panic, or when the goroutine exits, it runs the deferred calls.
func (t *thread) unwind(resume **instruction) {
	if t.fn == nil || len(t.deferred) == 0 {
		return // returned, or nothing deferred: a panic continues
	}
	u := &unwinding{thread: t}
	switch value := recover(); {
	case value != nil:
		u.Raise(value, nil)
	case t.vm.goroutineAbandoned():
		return
	default:
		u.Exit(nil)
	}
	u.runDeferred()
	u.Continue()
	if u.Exiting() {
		return
	}
	f := u.recovered
	if depth := int(f.frame); depth < t.depth {
		t.fn, t.depth = t.frames[depth].fn, depth
	}
	t.nb, t.sb = unsafe.Add(unsafe.Pointer(&t.scalars[0]), f.nb), unsafe.Add(unsafe.Pointer(&t.slots[0]), f.sb)
	*resume = &t.fn.code[t.fn.epilogue]
}

// goroutineAbandoned reports whether the goroutine exits without deferred calls.
func (vm *VM) goroutineAbandoned() bool {
	return vm.config.Registry != nil && vm.config.Registry.Gone()
}

// unwinding runs the deferred calls of a thread after a panic, or when the goroutine exits.
type unwinding struct {
	rt.Deferred
	thread    *thread
	recovered *deferredCall // the call that recovered
}

// runDeferred runs the deferred calls that are left, last first, until one has recovered.
func (u *unwinding) runDeferred() {
	t := u.thread
	for len(t.deferred) > 0 && u.recovered == nil {
		call := t.deferred[len(t.deferred)-1]
		t.deferred = t.deferred[:len(t.deferred)-1]
		captured := t.captured[call.captured:]
		t.captured = t.captured[:call.captured]
		u.call(&call, captured)
		if u.Cause() == nil && u.recovered == nil {
			u.recovered = &call
		}
	}
}

// call runs a deferred call. If it panics or exits the goroutine, the calls that are left run on top of its
// stack.
func (u *unwinding) call(call *deferredCall, captured []unsafe.Pointer) {
	returned, cause := false, u.Cause()
	defer func() {
		if returned {
			return
		}
		switch value := recover(); {
		case value != nil:
			u.Raise(value, cause)
		case u.thread.vm.goroutineAbandoned():
			return
		default:
			u.Exit(cause)
		}
		u.runDeferred()
		u.Continue()
	}()
	if call.wrapper {
		u.CallValue(func() { u.enter(call.function, captured, 1) }, 2)
	} else {
		u.enter(call.function, captured, 0)
	}
	returned = true
}

// enter runs a closure without parameters. depth is the call depth at which recover takes effect.
func (u *unwinding) enter(fn *Function, captured []unsafe.Pointer, depth int) {
	t := u.thread.vm.threads.Get().(*thread)
	defer t.release()
	t.unwinding, t.recoverDepth = u, depth
	if fn.scalars > t.scalarEnd-uintptr(t.nb) || fn.pointers > t.slotEnd-uintptr(t.sb) {
		t.nb, t.sb = t.grow(t.nb, t.sb, fn.scalars, fn.pointers)
	}
	fn.capture(t.sb, captured)
	t.fn, t.ip = fn, nil
	t.execute(fn)
}

// recover implements the builtin recover.
func (t *thread) recover(r *rt.Registry) any { return t.recoverAt(r, t.depth) }

// recoverAt is recover for a call by the function at a call depth.
func (t *thread) recoverAt(r *rt.Registry, depth int) any {
	switch {
	case t.unwinding != nil && depth == t.skipWrappers(t.recoverDepth):
		return t.unwinding.Recover()
	case t.unwinding == nil && depth == t.skipWrappers(0):
		// Compiled code may have deferred the function.
		return r.Recoverer().Recover()
	}
	return nil
}

// skipWrappers returns the call depth of the first function from depth on that is not a wrapper.
func (t *thread) skipWrappers(depth int) int {
	for depth < t.depth && t.frames[depth].fn.wrapper {
		depth++
	}
	return depth
}
