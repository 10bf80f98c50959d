package vm

import (
	"strings"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// thread is what one activation of the VM from outside runs on: two
// register files and the calls in progress. Nothing points into the files but
// local variables of run, so that they can move when they grow.
type thread struct {
	vm                 *VM
	scalars            []int64
	slots              []slot
	nb, sb             unsafe.Pointer // of the function that is called from outside
	scalarEnd, slotEnd uintptr
	frames             []activation
	depth              int
	fn                 *Function    // what runs
	ip                 *instruction // of the last instruction that could panic

	deferred     []deferredCall
	captured     []unsafe.Pointer // variables of the deferred closures
	unwinding    *unwinding       // what the first function is a deferred call of; nil for any other
	recoverDepth int              // how many calls there are around the function that may recover
}

// activation is a function that waits for one that it has called.
type activation struct {
	fn   *Function
	ip   *instruction // the call
	a, b uint16       // how far the frame of the called function is from that of fn
}

const (
	initialScalars = 256
	initialSlots   = 64
	initialFrames  = 64
	// maxFrames is how deep calls may be. Go's own limit is a stack of a
	// gigabyte, which are ten million calls of a small function.
	maxFrames = 5_000_000
	// maxDeferred is how many deferred calls there may be: all are made when a
	// recursion without end is ended.
	maxDeferred = 1_000_000
	// maxBytes is how much a register file may take.
	maxFileBytes = 256 << 20
	// mostKept is how many deferred calls a thread has room for that is kept.
	maxKeptDeferred = 256
	// mostTold is how many functions are told of a panic, from each end.
	maxTraceEnd = 100
)

func newThread(vm *VM) *thread {
	t := &thread{vm: vm, scalars: make([]int64, initialScalars), slots: make([]slot, initialSlots), frames: make([]activation, initialFrames)}
	t.reset()
	return t
}

// reset begins an empty stack.
func (t *thread) reset() {
	t.nb, t.sb = unsafe.Pointer(&t.scalars[0]), unsafe.Pointer(&t.slots[0])
	t.limit()
}

func (t *thread) limit() {
	t.scalarEnd = uintptr(unsafe.Pointer(&t.scalars[0])) + uintptr(len(t.scalars))*8
	t.slotEnd = uintptr(unsafe.Pointer(&t.slots[0])) + uintptr(len(t.slots))*slotSize
}

// StackOverflow is what a recursion without end panics with. In Go it ends the
// process, so no recover may see it.
type StackOverflow struct{ Depth int }

func (e *StackOverflow) Error() string {
	return "stack overflow: calls are nested too deeply, probably by infinite recursion"
}

// Uncatchable keeps a recover of a cell from seeing it.
func (*StackOverflow) Uncatchable() {}

// RuntimeError makes it a runtime.Error.
func (*StackOverflow) RuntimeError() {}

// grow makes room for a frame that ends n and s bytes after nb and sb, and for
// one more call.
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

// enter runs fn from outside. put writes its parameters to the registers, take
// reads its results from there.
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
	// The files may have moved.
	loadResults(unsafe.Pointer(&t.scalars[0]), unsafe.Pointer(&t.slots[0]))
}

// leave gives the thread back, unless a panic ends it: Active is asked for what it
// did then.
func (t *thread) release() {
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

// Activation is the function whose frames on the stack of a goroutine are
// activations of the VM. Its first argument is what Active wants.
const Activation = "github.com/quernlab/quern/interp/vm.(*thread).run"

// Active returns the functions that run in an activation of the VM,
// innermost first, of very many only those at both ends. The goroutine must not
// go on meanwhile.
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

// position returns the number of the position of an instruction.
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

// raise is the builtin panic.
func (t *thread) raise(value any) {
	panic(rt.Recovered(value))
}
