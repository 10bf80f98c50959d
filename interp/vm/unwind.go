package vm

import "unsafe"

// enter calls fn from outside the VM. storeArguments writes the arguments to the registers; loadResults
// reads the results from them.
func (vm *VM) enter(fn *Function, storeArguments, loadResults func(nb, sb unsafe.Pointer), captured []unsafe.Pointer) {
	if vm.stop.Load() {
		vm.config.Stop()
	}
	t := vm.threads.Get().(*Thread)
	defer t.release()
	if fn.Scalars > t.scalarEnd-uintptr(t.nb) || fn.Pointers > t.slotEnd-uintptr(t.sb) {
		t.nb, t.sb = t.grow(t.nb, t.sb, fn.Scalars, fn.Pointers)
	}
	storeArguments(t.nb, t.sb)
	fn.capture(t.sb, captured)
	t.fn, t.ip = fn, nil
	t.execute(fn)
	// The register files may have been reallocated.
	loadResults(unsafe.Pointer(&t.scalars[0]), unsafe.Pointer(&t.slots[0]))
}

// RunClosure calls a closure of fn, which has no parameters and results, from outside the VM. captured are the addresses of its variables.
func (vm *VM) RunClosure(fn *Function, captured []unsafe.Pointer) {
	nothing := func(_, _ unsafe.Pointer) {}
	vm.enter(fn, nothing, nothing, captured)
}

// A function that returns runs its deferred calls itself, see OpRunDeferred. If it panics or its goroutine
// exits, the deferred Go function unwind runs them, on threads of their own and on top of the Go stack at
// the time of the panic, so that a traceback shows all of it. If one of them recovers, the function
// continues at its epilogue.

// execute runs fn, whose arguments are in the first registers, until it returns.
func (t *Thread) execute(fn *Function) { t.executeAt(fn.entry()) }

// executeAt runs t.fn from an instruction on until it returns.
func (t *Thread) executeAt(ip *Instruction) {
	for ip != nil {
		ip = t.attempt(ip)
	}
}

// attempt runs the code of t.fn at ip. It returns nil when the first function of the thread has returned, and the
// instruction to continue at when a deferred call has recovered.
func (t *Thread) attempt(ip *Instruction) (resume *Instruction) {
	defer t.unwind(&resume)
	t.run(t.fn, ip)
	return nil
}

// unwind is deferred by attempt. After a panic, or when the goroutine exits, it runs the deferred calls.
func (t *Thread) unwind(resume **Instruction) {
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
	*resume = &t.fn.Code[t.fn.Epilogue]
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
	t := u.thread.vm.threads.Get().(*Thread)
	defer t.release()
	t.unwinding, t.recoverDepth = u, depth
	if fn.Scalars > t.scalarEnd-uintptr(t.nb) || fn.Pointers > t.slotEnd-uintptr(t.sb) {
		t.nb, t.sb = t.grow(t.nb, t.sb, fn.Scalars, fn.Pointers)
	}
	fn.capture(t.sb, captured)
	t.fn, t.ip = fn, nil
	t.execute(fn)
}
