package vm

import (
	"strings"
	"unsafe"
)

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

func newThread(vm *VM) *Thread {
	t := &Thread{vm: vm, scalars: make([]int64, initialScalars), slots: make([]slot, initialSlots), frames: make([]activation, initialFrames)}
	t.reset()
	return t
}

// reset empties the stack.
func (t *Thread) reset() {
	t.nb, t.sb = unsafe.Pointer(&t.scalars[0]), unsafe.Pointer(&t.slots[0])
	t.limit()
}

// prepare prepares a borrowed thread for a call of fn.
func (t *Thread) prepare(fn *Function) {
	if t.vm.stop.Load() {
		t.vm.config.Stop()
	}
	t.reset() // the files may have been reallocated
	if fn.Scalars > t.scalarEnd-uintptr(t.nb) || fn.Pointers > t.slotEnd-uintptr(t.sb) {
		t.nb, t.sb = t.grow(t.nb, t.sb, fn.Scalars, fn.Pointers)
	}
	t.fn, t.ip = fn, nil
}

func (t *Thread) limit() {
	t.scalarEnd = uintptr(unsafe.Pointer(&t.scalars[0])) + uintptr(len(t.scalars))*8
	t.slotEnd = uintptr(unsafe.Pointer(&t.slots[0])) + uintptr(len(t.slots))*SlotSize
}

// grow makes the register files large enough for a frame that ends n and s bytes after nb and sb, and the
// call stack for one more call. It returns the new nb and sb.
func (t *Thread) grow(nb, sb unsafe.Pointer, n, s uintptr) (_, _ unsafe.Pointer) {
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
	if need := int((offS + s + SlotSize - 1) / SlotSize); need > len(t.slots) {
		if need > maxFileBytes/int(SlotSize) {
			panic(&StackOverflow{t.depth})
		}
		slots := make([]slot, 2*need)
		copy(slots, t.slots)
		t.slots = slots
	}
	t.limit()
	return unsafe.Add(unsafe.Pointer(&t.scalars[0]), offN), unsafe.Add(unsafe.Pointer(&t.slots[0]), offS)
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

// release returns the thread to the pool, unless a panic is passing through it: Active still reads it then.
func (t *Thread) release() {
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

// maxCleared limits the slots that ClearSlots clears.
const maxCleared = 1 << 16

// ClearSlots clears the slots that begin n bytes after sb.
func (t *Thread) ClearSlots(sb unsafe.Pointer, n uintptr) {
	first := (uintptr(sb) + n - uintptr(unsafe.Pointer(&t.slots[0]))) / SlotSize
	rest := t.slots[min(first, uintptr(len(t.slots))):]
	clear(rest[:min(len(rest), maxCleared)])
}

// Keep says which variables are stored when the function of a cell ends by a panic.
func (t *Thread) Keep(kept []KeptVariable) { t.kept = kept }

// storeKept stores the kept variables of the function of a cell that has not ended its loop.
func (t *Thread) storeKept() {
	kept := t.kept
	t.kept = nil
	if kept == nil || t.vm.goroutineAbandoned() {
		return // in the second case other cells run already
	}
	for _, v := range kept {
		v.spill(unsafe.Pointer(&t.scalars[0]), unsafe.Pointer(&t.slots[0]), v.Reg, v.Global.Address)
	}
}

// goroutineAbandoned reports whether the goroutine exits without deferred calls.
func (vm *VM) goroutineAbandoned() bool {
	return vm.config.Registry != nil && vm.config.Registry.Gone()
}

// CheckInterrupt ends the goroutine if its cell is interrupted.
func (t *Thread) CheckInterrupt() {
	if t.vm.stop.Load() {
		t.vm.config.Stop()
	}
}

// raise implements the builtin panic.
func (t *Thread) raise(value any) {
	panic(value)
}

// Functions begins the names of all functions of this package and of package compile in a stack trace.
const Functions = "github.com/quernlab/quern/interp/vm"

// Activation is the name of the Go function that has one stack frame for each call into the VM. Its first
// argument is the argument of Active.
const Activation = Functions + ".(*Thread).run"

// A Frame is an active call of a compiled function.
type Frame struct {
	Name     string // name of the function in lowered code
	Position int    // index of the source position of its current statement
}

// Active returns the functions on the call stack of an activation of the VM, innermost first. Of a very
// deep stack it returns both ends, and a Frame without a name between them. The goroutine must not run meanwhile.
func Active(activation unsafe.Pointer) []Frame {
	t := (*Thread)(activation)
	if t.fn == nil {
		return nil
	}
	var trace []Frame
	add := func(fn *Function, ip *Instruction) {
		if fn.Name != "" {
			trace = append(trace, fn.frame(ip))
		}
	}
	add(t.fn, t.ip)
	for i := t.depth - 1; i >= 0; i-- {
		if len(trace) == maxTraceEnd && i > maxTraceEnd {
			i = maxTraceEnd
			trace = append(trace, Frame{})
		}
		f := &t.frames[i]
		add(f.fn, f.ip)
	}
	return trace
}

func (f *Function) frame(ip *Instruction) Frame {
	return Frame{strings.TrimSuffix(f.Name, "ʹm"), f.position(ip)}
}

// position returns the index of the source position of an instruction.
func (f *Function) position(ip *Instruction) int {
	if ip == nil {
		return 0
	}
	i := (uintptr(unsafe.Pointer(ip)) - uintptr(unsafe.Pointer(&f.Code[0]))) / InstructionSize
	if i >= uintptr(len(f.Positions)) {
		return 0
	}
	return f.Positions[i]
}
