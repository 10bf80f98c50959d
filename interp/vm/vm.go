package vm

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/shared"
	"github.com/quernlab/quern/interp/stopflag"
)

// Config connects a VM to its session.
type Config struct {
	// Registry is the runtime library of interpreted code.
	Registry *rt.Registry
	// Compile compiles the function with this key, which FirstCalled has returned, commits that, and calls Publish. It may be called
	// from any goroutine that runs code. Nil: there are no such functions.
	Compile func(key any) error
	// Stopping is set while a cell is being interrupted.
	Stopping *stopflag.Flag
	// Stop is called repeatedly while Stopping is set. It panics if the calling goroutine runs the code to
	// be interrupted.
	Stop func()
}

// VM holds the compiled functions of a session. One goroutine at a time defines functions; they may run on any number of goroutines.
type VM struct {
	config      Config
	stop        *stopflag.Flag
	functions   map[any]*Function // by the key of Define
	types       map[reflect.Type]*MemoryType
	unpublished []*Function // see Publish
	threads     sync.Pool
	epoch       shared.Uint64 // incremented when methods change; invalidates the caches of call sites
}

// Registry returns the runtime library of interpreted code; nil if there is none.
func (vm *VM) Registry() *rt.Registry { return vm.config.Registry }

// MemoryType describes a type. Only one goroutine at a time may call it.
func (vm *VM) MemoryType(t reflect.Type) *MemoryType {
	if known, ok := vm.types[t]; ok {
		return known
	}
	made := newMemoryType(t)
	vm.types[t] = made
	return made
}

//go:generate go run ./internal/generate .

// Instruction is one operation. Operands A, B and C are byte offsets of registers in the frame; the offset
// of a slot is that of its p field.
type Instruction struct {
	Op      Op
	A, B, C uint16
	K       int32 // constant, or index into a table of the function
	J       int32 // jump distance, in bytes from this instruction
}

// InstructionSize is the size of an instruction in bytes.
const InstructionSize = unsafe.Sizeof(Instruction{})

// Lends is in the field J of a call instruction whose arguments may be variables of the caller.
const Lends = 1

// Function is compiled code. Its exported fields are set before Link; later only replacement changes.
type Function struct {
	Name      string        // in lowered code
	Code      []Instruction // ends with OpInvalid
	Positions []int         // source position of each instruction, as an index
	Literal   int           // source position of the function literal; 0 for other functions
	Method    *Function     // of a method value: the method
	Start     int           // index of the first instruction after the copies of parameters; see Lends
	Epilogue  int           // index of the code that returns after a deferred call has recovered

	Scalars  uintptr // bytes of a frame in the scalar file
	Pointers uintptr // bytes of a frame in the slot file

	Constants64     []int64
	Complexes       []complex128
	Strings         []string
	Globals         []*Global
	Types           []*MemoryType
	Callees         []*Function
	Natives         []*Native
	ForeignCalls    []*ForeignCall
	CallSites       []*CallSite
	UnsignedIndexes []int32  // instructions whose index is a uint64 and may be too large for an int
	Captures        []uint16 // registers that receive the captured variables of a function literal
	captured        []capturedVariable

	Parameters, Results []Shape
	value               *functionValue           // set by Link
	template            reflect.Value            // of a function literal: a function value that copyValue copies
	InterfaceEntry      *Function                // of a method: the function that calls through interfaces run
	LentReceiver        bool                     // of a method: it only reads its receiver, and nothing changes meanwhile
	Wrapper             bool                     // only prepares the receiver and calls a method; recover ignores it
	replacement         shared.Pointer[Function] // set by Redirect, and when a function is compiled at its first call
	first               *firstCall               // nil unless the function is compiled at its first call
}

// functionValue is a function of the VM as a function of Go. It is made when it is needed: package reflect never forgets the type of a
// method, in which the type of the receiver is that of a cell.
type functionValue struct {
	once    sync.Once
	vm      *VM
	f       *Function
	value   reflect.Value
	pointer unsafe.Pointer
}

// Trim releases memory that the function does not need when its code is complete.
func (f *Function) Trim() {
	// The instruction pointer can point past the last instruction and must stay inside the allocation.
	f.Code = append(make([]Instruction, 0, len(f.Code)+1), f.Code...)
	f.Positions = append(make([]int, 0, len(f.Positions)), f.Positions...)
}

// outOfRange panics with the index error of an instruction.
func (f *Function) outOfRange(in *Instruction, index, length int) {
	at := (uintptr(unsafe.Pointer(in)) - uintptr(unsafe.Pointer(&f.Code[0]))) / InstructionSize
	if slices.Contains(f.UnsignedIndexes, int32(at)) {
		rt.IndexUnsigned(uint64(index), length)
	}
	rt.Index(index, length)
}

func (f *Function) entry() *Instruction { return &f.Code[f.Start] }

// capture stores the captured variables in the registers of a new activation of a function literal.
func (f *Function) capture(sb unsafe.Pointer, captured []unsafe.Pointer) {
	for i, at := range f.Captures {
		*(*unsafe.Pointer)(unsafe.Add(sb, at)) = captured[i]
	}
}

// signature returns the type of f as a function of Go, with the type receiver of the first parameter if that is not nil.
func (f *Function) signature(receiver reflect.Type) reflect.Type {
	in, out := make([]reflect.Type, len(f.Parameters)), make([]reflect.Type, len(f.Results))
	for i, s := range f.Parameters {
		in[i] = s.Type
	}
	if receiver != nil {
		in[0] = receiver
	}
	for i, s := range f.Results {
		out[i] = s.Type
	}
	return reflect.FuncOf(in, out, false)
}

// firstCall is the state of a function that is compiled when it is called for the first time. Callers and function values refer
// to its Function, whose instruction makes Config.Compile compile the declaration with the same key and goes on with the
// result.
type firstCall struct {
	key      any
	pending  *Function                // compiled, but not for callers yet; see Publish
	compiled shared.Pointer[Function] // nil before the first call
}

// waits reports whether FirstCalled has made f.
func (f *Function) waits() bool { return f != nil && f.first != nil }

// body returns the compiled form of f, which is compiled if this is its first call.
func (f *Function) body(vm *VM) *Function {
	if body := f.first.compiled.Load(); body != nil {
		return body
	}
	if err := vm.config.Compile(f.first.key); err != nil {
		panic(err)
	}
	if body := f.first.compiled.Load(); body != nil {
		return body
	}
	panic(fmt.Errorf("function %s has not been compiled", f.Name))
}

// current returns the function that replaced f, or f.
func (f *Function) current() *Function {
	if s := f.replacement.Load(); s != nil {
		return s
	}
	return f
}

// Global is a variable of the session. Its storage belongs to yaegi.
type Global struct {
	Name    string // in lowered code
	Type    reflect.Type
	Address unsafe.Pointer
}

// Native is a Go function that implements an operation: Run, with the registers of the frame at nb and sb, or for OpCallFloat Float.
type Native struct {
	Name  string
	Run   func(t *Thread, nb, sb unsafe.Pointer)
	Float func(float64) float64
}

// closure is a function value of the VM: a function and the addresses of the variables that it captures.
type closure struct {
	function *Function
	captured []unsafe.Pointer
}

// capturedVariable is a variable that a closure captures and that may lead to interface values.
type capturedVariable struct {
	index  int // in closure.captured
	typ    reflect.Type
	direct bool // what is captured is the value, a pointer, and not the address of the variable
}

// CapturesVariable says that what the last of Captures receives leads to a variable of type t. direct says that it is the value, a pointer that does not
// change, and not the address of the variable.
func (f *Function) CapturesVariable(t reflect.Type, direct bool) {
	if hasPointers(t) {
		f.captured = append(f.captured, capturedVariable{len(f.Captures) - 1, t, direct})
	}
}

// Captured returns pointers to the variables that a function value captures, if it is a closure of the VM.
func Captured(function unsafe.Pointer) (list []reflect.Value) {
	c := closureOf(function)
	if c == nil {
		return nil
	}
	for _, v := range c.function.captured {
		address := c.captured[v.index]
		if v.direct {
			address = unsafe.Pointer(&c.captured[v.index])
		}
		if address != nil {
			list = append(list, reflect.NewAt(v.typ, address))
		}
	}
	return list
}

// A function value points to a code pointer followed by the data of the closure. If package reflect made
// it, the handler is at handlerOffset; the handler is itself a closure of our code, with the *closure at
// closureOffset. findClosure measures the offsets. If it finds none, calls of function values go through
// package reflect.
var stubCode, handlerCode, handlerOffset, closureOffset uintptr

// closureOf returns the closure behind a function value of the VM, nil for any other function value.
func closureOf(p unsafe.Pointer) *closure {
	if *(*uintptr)(p) != stubCode || stubCode == 0 {
		return nil
	}
	h := *(*unsafe.Pointer)(unsafe.Add(p, handlerOffset))
	if *(*uintptr)(h) != handlerCode {
		return nil
	}
	return *(**closure)(unsafe.Add(h, closureOffset))
}

// ForeignCall is a call of a function value that is not a closure of the VM.
type ForeignCall struct {
	typ                 reflect.Type
	parameters, Results []Shape
	direct              Adapter // nil: package reflect makes the call
}

// CallSite is a call of a method through an interface type of a cell. It remembers the methods that it called, because most call sites see
// one type, and nearly all of the others a few.
type CallSite struct {
	Name                string
	Parameters, Results []Shape                    // the first parameter is the receiver's data word
	cached              shared.Pointer[cacheEntry] // the last new one whose receiver is the data word of the interface value
	others              [otherEntries]shared.Pointer[cacheEntry]
	next                atomic.Uint32 // of others, replaced when all are in use
}

const otherEntries = 8

// cacheEntry is the method of one dynamic type. function takes the data word of the interface value.
type cacheEntry struct {
	key      unsafe.Pointer // see CallSite.find
	epoch    uint64
	function *Function
	*rt.Method
}

// method is a method for calls through interfaces; it implements rt.MethodCode.
type method struct {
	vm       *VM
	entry    *Function // see Function.InterfaceEntry
	receiver *MemoryType
	direct   bool // the data word is the receiver itself; see named.IsDirect
}

// Thread is the execution state of one call into the VM: two register files and a call stack. Only local
// variables of run point into the register files, so they can be reallocated when they grow.
type Thread struct {
	vm                 *VM
	scalars            []int64
	slots              []slot
	nb, sb             unsafe.Pointer // base of the frame that an outside caller fills
	scalarEnd, slotEnd uintptr
	frames             []activation
	depth              int
	fn                 *Function    // running function; nil after it has returned
	ip                 *Instruction // last executed instruction that can panic
	// The distance of the running frame from the start of the register files, while run calls a function.
	scalarOffset, slotOffset uintptr

	deferred     []deferredCall
	captured     []unsafe.Pointer // addresses of the variables that the deferred closures capture
	kept         []KeptVariable   // of the loop of a cell that runs
	unwinding    *unwinding       // the unwinding on whose behalf this thread runs a deferred call; else nil
	recoverDepth int              // call depth at which recover takes effect
}

// activation is the saved state of a function that waits for its callee.
type activation struct {
	fn   *Function
	ip   *Instruction // the call instruction
	a, b uint16       // distance between the frames of caller and callee, in bytes
}

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

// KeptVariable is a variable of the session that is in a register of the function of a cell.
type KeptVariable struct {
	Global *Global
	Register
}

// unwinding runs the deferred calls of a thread after a panic, or when the goroutine exits.
type unwinding struct {
	rt.Deferred
	thread    *Thread
	recovered *deferredCall // the call that recovered
}
