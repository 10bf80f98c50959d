package vm

import (
	"reflect"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

//go:generate go run ./internal/generate .

type op uint16

// instruction is one step. Operands a, b and c are offsets of registers in bytes;
// those of pointer registers are of the word that a pointer is in.
type instruction struct {
	op      op
	a, b, c uint16
	k       int32 // a constant, or the index of something in a table of the function
	j       int32 // how far to jump, in bytes from this instruction
}

const instructionSize = unsafe.Sizeof(instruction{})

// Function is compiled code. Once it has been linked, nothing but successor
// changes any more.
type Function struct {
	name      string // in lowered code
	code      []instruction
	positions []int // of each instruction
	start     int   // of the code; what sets up memory for variables lies at the end
	epilogue  int   // where one with deferred calls returns after a panic

	scalars  uintptr // size of a frame in the file of scalars
	pointers uintptr // and in that of pointers, in bytes

	constants64     []int64
	complexes       []complex128
	strings         []string
	globals         []*global
	types           []*memoryType
	callees         []*Function
	natives         []*native
	foreignCalls    []*foreignCall
	callSites       []*callSite
	unsignedIndexes []int32  // instructions whose index may be too large for an int
	captures        []uint16 // registers that get the captured variables of a literal

	parameters, results []shape
	value               reflect.Value // as a function of Go, when it was linked
	pointer             unsafe.Pointer
	template            reflect.Value            // of a literal: a function value of it; see copyValue
	interfaceEntry      *Function                // of a method: what calls through interfaces run
	wrapper             bool                     // it only makes the receiver of a method and calls that, which may recover
	replacement         atomic.Pointer[Function] // see Redirect
}

// outOfRange panics because of the index of an instruction.
func (f *Function) outOfRange(in *instruction, index, length int) {
	at := (uintptr(unsafe.Pointer(in)) - uintptr(unsafe.Pointer(&f.code[0]))) / instructionSize
	if slices.Contains(f.unsignedIndexes, int32(at)) {
		rt.IndexUnsigned(uint64(index), length)
	}
	rt.Index(index, length)
}

func (f *Function) entry() *instruction { return &f.code[f.start] }

// capture gives a new activation of a function literal its captured variables.
func (f *Function) capture(sb unsafe.Pointer, captured []unsafe.Pointer) {
	for i, at := range f.captures {
		*(*unsafe.Pointer)(unsafe.Add(sb, at)) = captured[i]
	}
}

// global is a variable of the session, whose storage is yaegi's.
type global struct {
	name    string // in lowered code
	address unsafe.Pointer

	// of a function that yaegi runs
	typ   reflect.Type
	value unsafe.Pointer
}

// native is an operation that is a function of Go.
type native struct {
	name  string
	run   func(t *thread, nb, sb unsafe.Pointer)
	float func(float64) float64
}

// slot is a pointer register. A pointer, map, channel, function, string or slice
// is in p, n and c as Go lays it out, an interface in q and p, and a complex number in
// n and c.
type slot struct {
	q, p unsafe.Pointer
	n, c int
}

const (
	slotSize   = unsafe.Sizeof(slot{})
	slotOffset = unsafe.Offsetof(slot{}.p)
)

// header is a slice.
type sliceHeader struct {
	data             unsafe.Pointer
	length, capacity int
}

// The accesses of native functions to registers.

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
