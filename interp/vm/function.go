package vm

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/shared"
)

//go:generate go run ./internal/generate .

type op uint16

// instruction is one operation. Operands a, b and c are byte offsets of registers in the frame; the offset
// of a slot is that of its p field.
type instruction struct {
	op      op
	a, b, c uint16
	k       int32 // constant, or index into a table of the function
	j       int32 // jump distance, in bytes from this instruction
}

const instructionSize = unsafe.Sizeof(instruction{})

// Function is compiled code. After linking, only replacement changes.
type Function struct {
	name      string // in lowered code
	code      []instruction
	positions []int     // source position of each instruction, as an index
	literal   int       // source position of the function literal; 0 for other functions
	method    *Function // of a method value: the method
	start     int       // index of the first instruction after the copies of parameters; see ownParameters
	epilogue  int       // index of the code that returns after a deferred call has recovered

	scalars  uintptr // bytes of a frame in the scalar file
	pointers uintptr // bytes of a frame in the slot file

	constants64     []int64
	complexes       []complex128
	strings         []string
	globals         []*global
	types           []*memoryType
	callees         []*Function
	natives         []*native
	foreignCalls    []*foreignCall
	callSites       []*callSite
	unsignedIndexes []int32  // instructions whose index is a uint64 and may be too large for an int
	captures        []uint16 // registers that receive the captured variables of a function literal

	parameters, results []shape
	value               reflect.Value // as a Go function; set by Link
	pointer             unsafe.Pointer
	template            reflect.Value            // of a function literal: a function value that copyValue copies
	interfaceEntry      *Function                // of a method: the function that calls through interfaces run
	wrapper             bool                     // only prepares the receiver and calls a method; recover ignores it
	replacement         shared.Pointer[Function] // set by Redirect, and when a function is compiled at its first call
	first               *firstCall               // nil unless the function is compiled at its first call
}

// outOfRange panics with the index error of an instruction.
func (f *Function) outOfRange(in *instruction, index, length int) {
	at := (uintptr(unsafe.Pointer(in)) - uintptr(unsafe.Pointer(&f.code[0]))) / instructionSize
	if slices.Contains(f.unsignedIndexes, int32(at)) {
		rt.IndexUnsigned(uint64(index), length)
	}
	rt.Index(index, length)
}

func (f *Function) entry() *instruction { return &f.code[f.start] }

// entryOf returns the first instruction for the call instruction in.
func (f *Function) entryOf(in *instruction) *instruction {
	if in.j == lends && in.op != opRunDeferred {
		return &f.code[0]
	}
	return &f.code[f.start]
}

// capture stores the captured variables in the registers of a new activation of a function literal.
func (f *Function) capture(sb unsafe.Pointer, captured []unsafe.Pointer) {
	for i, at := range f.captures {
		*(*unsafe.Pointer)(unsafe.Add(sb, at)) = captured[i]
	}
}

// global is a variable of the session. Its storage belongs to yaegi.
type global struct {
	name    string // in lowered code
	typ     reflect.Type
	address unsafe.Pointer
}

// native is a Go function that implements an operation.
type native struct {
	name  string
	run   func(t *thread, nb, sb unsafe.Pointer)
	float func(float64) float64
}

// slot is a pointer register. It holds a pointer, map, channel, function, string or slice in p, n and c,
// with Go's memory layout; an interface in q and p; and a complex number in n and c.
type slot struct {
	q, p unsafe.Pointer
	n, c int
}

const (
	slotSize   = unsafe.Sizeof(slot{})
	slotOffset = unsafe.Offsetof(slot{}.p)
)

// sliceHeader is the memory layout of a slice.
type sliceHeader struct {
	data             unsafe.Pointer
	length, capacity int
}

// Typed access to registers for native functions. at is the byte offset of the register.

func intAt(nb unsafe.Pointer, at uint16) *int64         { return (*int64)(unsafe.Add(nb, at)) }
func floatAt(nb unsafe.Pointer, at uint16) *float64     { return (*float64)(unsafe.Add(nb, at)) }
func stringAt(sb unsafe.Pointer, at uint16) *string     { return (*string)(unsafe.Add(sb, at)) }
func sliceAt(sb unsafe.Pointer, at uint16) *sliceHeader { return (*sliceHeader)(unsafe.Add(sb, at)) }
func anyAt(sb unsafe.Pointer, at uint16) *any           { return (*any)(unsafe.Add(sb, int(at)-8)) }
func complex128At(sb unsafe.Pointer, at uint16) *complex128 {
	return (*complex128)(unsafe.Add(sb, int(at)+8))
}
func complex64At(sb unsafe.Pointer, at uint16) *complex64 {
	return (*complex64)(unsafe.Add(sb, int(at)+8))
}
func errorAt(sb unsafe.Pointer, at uint16) *error { return (*error)(unsafe.Add(sb, int(at)-8)) }
func pointerAt(sb unsafe.Pointer, at uint16) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Add(sb, at))
}

func boolToInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
