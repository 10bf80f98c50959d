package vm

import (
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// PushDeferred defers a call of fn in the function whose frame is at nb and sb. The registers in from hold the
// addresses of the captured variables. wrapper says that fn only makes a call, and that what it calls may recover.
func (t *Thread) PushDeferred(fn *Function, wrapper bool, from []uint16, nb, sb unsafe.Pointer) {
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
		t.captured = append(t.captured, *PointerAt(sb, at))
	}
}

// offsets returns the offsets of a frame in the register files.
func (t *Thread) offsets(nb, sb unsafe.Pointer) (uint32, uint32) {
	return uint32(uintptr(nb) - uintptr(unsafe.Pointer(&t.scalars[0]))), uint32(uintptr(sb) - uintptr(unsafe.Pointer(&t.slots[0])))
}

// popDeferred removes the last deferred call of the running function from the list and returns it with its
// captured variables; nil if there is none. It looks whether the cell is interrupted while the call is still in the list, so that
// the call runs then as well.
//
//go:noinline
func (t *Thread) popDeferred() (*Function, []unsafe.Pointer) {
	n := len(t.deferred) - 1
	if n < 0 || int(t.deferred[n].frame) != t.depth {
		return nil, nil
	}
	t.CheckInterrupt()
	call := &t.deferred[n]
	captured := t.captured[call.captured:]
	t.deferred, t.captured = t.deferred[:n], t.captured[:call.captured]
	return call.function, captured
}

// Recover implements the builtin recover.
func (t *Thread) Recover(r *rt.Registry) any { return t.recoverAt(r, t.depth) }

// recoverAt is recover for a call by the function at a call depth.
func (t *Thread) recoverAt(r *rt.Registry, depth int) any {
	switch {
	case t.unwinding != nil && depth == t.skipWrappers(t.recoverDepth):
		return t.unwinding.Recover()
	case t.unwinding == nil && depth == t.skipWrappers(0):
		// Compiled code may have deferred the function.
		return r.Recoverer().Recover()
	}
	return nil
}

// RecoverOutside is recover for a call in the function that called the running one.
func (t *Thread) RecoverOutside(r *rt.Registry) any { return t.recoverAt(r, t.depth-1) }

// skipWrappers returns the call depth of the first function from depth on that is not a wrapper.
func (t *Thread) skipWrappers(depth int) int {
	for depth < t.depth && t.frames[depth].fn.Wrapper {
		depth++
	}
	return depth
}

// States of a range over a function. Branches out of the body have the states from FirstExit on.
const (
	StateEnded    = rt.RangeEnded
	StateRunning  = rt.RangeRunning // the body is running, or has panicked
	StateReady    = 0
	StateLeft     = 1 // a break statement has left the loop
	StateReturned = 2 // a return statement has left the loop
	FirstExit     = 3
)

// exitedBody returns the panic value of a call of a body in a state other than StateReady.
func exitedBody(state *int64) any {
	before := *state
	*state = StateRunning
	return rt.RangeExited(int(before))
}

// Deferrer is an active call of a function that ranges over a function. The calls that the body of the range statement defers
// run when that call returns, whatever calls the body.
type Deferrer struct {
	thread *Thread
	depth  int
	nb, sb uint32 // as in deferredCall
}

// Deferrer returns the active call whose frame is at nb and sb.
func (t *Thread) Deferrer(nb, sb unsafe.Pointer) *Deferrer {
	a := &Deferrer{thread: t, depth: t.depth}
	a.nb, a.sb = t.offsets(nb, sb)
	return a
}

// PushDeferred adds a deferred call below those of the functions that a has called. The registers in from, of the frame at sb, hold
// the addresses of the captured variables.
func (a *Deferrer) PushDeferred(fn *Function, wrapper bool, from []uint16, sb unsafe.Pointer) {
	t := a.thread
	if len(t.deferred) >= maxDeferred {
		panic(&StackOverflow{t.depth})
	}
	i, at := len(t.deferred), len(t.captured)
	for ; i > 0 && int(t.deferred[i-1].frame) > a.depth; i-- {
		at = int(t.deferred[i-1].captured)
		t.deferred[i-1].captured += uint32(len(from))
	}
	call := deferredCall{function: fn, wrapper: wrapper, captured: uint32(at), frame: uint32(a.depth), nb: a.nb, sb: a.sb}
	t.deferred = slices.Insert(t.deferred, i, call)
	captured := make([]unsafe.Pointer, len(from))
	for i, register := range from {
		captured[i] = *PointerAt(sb, register)
	}
	t.captured = slices.Insert(t.captured, at, captured...)
}
