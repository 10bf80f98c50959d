package vm

import (
	"strings"
	"unsafe"
)

// thread is the execution state of one call into the VM: two register files and a call stack. Only local
// variables of run point into the register files, so they can be reallocated when they grow.
type thread struct {
	vm                 *VM
	scalars            []int64
	slots              []slot
	nb, sb             unsafe.Pointer // base of the frame that an outside caller fills
	scalarEnd, slotEnd uintptr
	frames             []activation
	depth              int
	fn                 *Function    // running function; nil after it has returned
	ip                 *instruction // last executed instruction that can panic
	// The distance of the running frame from the start of the register files, while run calls a function.
	scalarOffset, slotOffset uintptr

	deferred     []deferredCall
	captured     []unsafe.Pointer // addresses of the variables that the deferred closures capture
	kept         []keptVariable   // of the loop of a cell that runs
	unwinding    *unwinding       // the unwinding on whose behalf this thread runs a deferred call; else nil
	recoverDepth int              // call depth at which recover takes effect
}

// activation is the saved state of a function that waits for its callee.
type activation struct {
	fn   *Function
	ip   *instruction // the call instruction
	a, b uint16       // distance between the frames of caller and callee, in bytes
}

const (
	initialScalars = 256
	initialSlots   = 64
	initialFrames  = 64
	// maxFrames limits the call depth. Go limits the stack to 1 GB, which is about ten million calls of a
	// small function.
	maxFrames = 5_000_000
	// maxDeferred limits the pending deferred calls, because all of them run when infinite recursion ends.
	maxDeferred = 1_000_000
	// maxFileBytes limits the size of a register file.
	maxFileBytes = 256 << 20
	// maxKeptDeferred is the largest capacity for deferred calls with which a thread is reused.
	maxKeptDeferred = 256
	// maxTraceEnd is the number of frames that Active reports from each end of a long call stack.
	maxTraceEnd = 100
)

func newThread(vm *VM) *thread {
	t := &thread{vm: vm, scalars: make([]int64, initialScalars), slots: make([]slot, initialSlots), frames: make([]activation, initialFrames)}
	t.reset()
	return t
}

// reset empties the stack.
func (t *thread) reset() {
	t.nb, t.sb = unsafe.Pointer(&t.scalars[0]), unsafe.Pointer(&t.slots[0])
	t.limit()
}

func (t *thread) limit() {
	t.scalarEnd = uintptr(unsafe.Pointer(&t.scalars[0])) + uintptr(len(t.scalars))*8
	t.slotEnd = uintptr(unsafe.Pointer(&t.slots[0])) + uintptr(len(t.slots))*slotSize
}

// StackOverflow is the panic value of infinite recursion. Go ends the process in this case, so no recover
// may return it.
type StackOverflow struct{ Depth int }

func (e *StackOverflow) Error() string {
	return "stack overflow: calls are nested too deeply, probably by infinite recursion"
}

// Uncatchable marks the panic as one that recover in a cell does not return.
func (*StackOverflow) Uncatchable() {}

// RuntimeError implements runtime.Error.
func (*StackOverflow) RuntimeError() {}

// grow makes the register files large enough for a frame that ends n and s bytes after nb and sb, and the
// call stack for one more call. It returns the new nb and sb.
func (t *thread) grow(nb, sb unsafe.Pointer, n, s uintptr) (_, _ unsafe.Pointer) {
	firstN, firstS := uintptr(unsafe.Pointer(&t.scalars[0])), uintptr(unsafe.Pointer(&t.slots[0]))
	offN, offS := uintptr(nb)-firstN, uintptr(sb)-firstS
	if t.depth+1 >= len(t.frames) {
		if len(t.frames) >= maxFrames {
			panic(&StackOverflow{t.depth})
		}
		frames := make([]activation, min(2*len(t.frames), maxFrames))
		copy(frames, t.frames)
		t.frames = frames
	}
	if need := int(offN+n) / 8; need > len(t.scalars) {
		if need > maxFileBytes/8 {
			panic(&StackOverflow{t.depth})
		}
		scalars := make([]int64, 2*need)
		copy(scalars, t.scalars)
		t.scalars = scalars
	}
	if need := int((offS + s + slotSize - 1) / slotSize); need > len(t.slots) {
		if need > maxFileBytes/int(slotSize) {
			panic(&StackOverflow{t.depth})
		}
		slots := make([]slot, 2*need)
		copy(slots, t.slots)
		t.slots = slots
	}
	t.limit()
	return unsafe.Add(unsafe.Pointer(&t.scalars[0]), offN), unsafe.Add(unsafe.Pointer(&t.slots[0]), offS)
}

// enter calls fn from outside the VM. storeArguments writes the arguments to the registers; loadResults
// reads the results from them.
func (vm *VM) enter(fn *Function, storeArguments, loadResults func(nb, sb unsafe.Pointer), captured []unsafe.Pointer) {
	if vm.stop.Load() {
		vm.config.Stop()
	}
	t := vm.threads.Get().(*thread)
	defer t.release()
	if fn.scalars > t.scalarEnd-uintptr(t.nb) || fn.pointers > t.slotEnd-uintptr(t.sb) {
		t.nb, t.sb = t.grow(t.nb, t.sb, fn.scalars, fn.pointers)
	}
	storeArguments(t.nb, t.sb)
	fn.capture(t.sb, captured)
	t.fn, t.ip = fn, nil
	t.execute(fn)
	// The register files may have been reallocated.
	loadResults(unsafe.Pointer(&t.scalars[0]), unsafe.Pointer(&t.slots[0]))
}

// release returns the thread to the pool, unless a panic is passing through it: Active still reads it then.
func (t *thread) release() {
	t.storeKept()
	if t.fn != nil || len(t.slots) > 16*initialSlots || len(t.scalars) > 64*initialScalars || cap(t.deferred) > maxKeptDeferred {
		return
	}
	clear(t.slots)
	clear(t.frames)
	clear(t.captured[:cap(t.captured)])
	t.depth, t.ip, t.unwinding = 0, nil, nil
	t.reset()
	t.vm.threads.Put(t)
}

// Functions begins the names of all functions of this package in a stack trace.
const Functions = "github.com/quernlab/quern/interp/vm."

// Activation is the name of the Go function that has one stack frame for each call into the VM. Its first
// argument is the argument of Active.
const Activation = Functions + "(*thread).run"

// Active returns the functions on the call stack of an activation of the VM, innermost first. Of a very
// deep stack it returns both ends. The goroutine must not run meanwhile.
func Active(activation unsafe.Pointer) []Frame {
	t := (*thread)(activation)
	if t.fn == nil {
		return nil
	}
	var trace []Frame
	add := func(fn *Function, ip *instruction) {
		if fn.name != "" {
			trace = append(trace, fn.frame(ip))
		}
	}
	add(t.fn, t.ip)
	for i := t.depth - 1; i >= 0; i-- {
		if len(trace) == maxTraceEnd && i > maxTraceEnd {
			i = maxTraceEnd
		}
		f := &t.frames[i]
		add(f.fn, f.ip)
	}
	return trace
}

func (f *Function) frame(ip *instruction) Frame {
	return Frame{strings.TrimSuffix(f.name, "ʹm"), f.position(ip)}
}

// position returns the index of the source position of an instruction.
func (f *Function) position(ip *instruction) int {
	if ip == nil {
		return 0
	}
	i := (uintptr(unsafe.Pointer(ip)) - uintptr(unsafe.Pointer(&f.code[0]))) / instructionSize
	if i >= uintptr(len(f.positions)) {
		return 0
	}
	return f.positions[i]
}

// raise implements the builtin panic.
func (t *thread) raise(value any) {
	panic(value)
}
