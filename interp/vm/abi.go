package vm

import (
	"reflect"
	"runtime"
	"unsafe"
)

// An Adapter calls the function value at f with the arguments in the registers at nb and sb, and stores its
// results there.
//
// Go passes arguments and results in registers of the CPU: one for an integer, pointer or float64, two for a
// string or interface, three for a slice. See Go's ABIInternal specification, cmd/compile/abi-internal.md. So
// an adapter does not depend on the types of the parameters, but only on the number of integer registers and
// of floating-point registers that they take. Each argument is passed as words of type uintptr:
//   - The register file keeps the values alive until the callee has them, and no argument points into a stack.
//   - An integer of any width takes a whole register, of which the callee reads only its part.
//   - A function ignores registers that it does not expect. Hence one adapter serves for several counts.
//
// Results have the types of Go values with the same pointers, because storing a pointer needs a write barrier.
//
// In WebAssembly there are no registers. Go passes arguments on the stack, each where its alignment puts it, and
// then the results. So an adapter passes the words of all arguments in their order, floats too, and exactly as many as the
// function expects, since these say where the results are. Neighbors that share a word, such as two arguments of type
// int32, have no adapter.
type Adapter func(f, nb, sb unsafe.Pointer)

// abiClass groups types of results that Go returns in the same registers.
type abiClass uint8

const (
	noClass abiClass = iota
	classInteger
	classFloat
	classString
	classPointer
	classSlice
	classInterface
)

// wordCount is the number of integer registers that a value of a class takes.
var wordCount = [...]int{classInteger: 1, classString: 2, classPointer: 1, classSlice: 3, classInterface: 2}

func classOf(s Shape) abiClass {
	switch {
	case s.File == Memory || s.Type == nil || IsComplex(s) || s.Type.Kind() == reflect.Float32:
		return noClass
	case s.File == Scalar && s.Type.Kind() == reflect.Float64:
		return classFloat
	case s.File == Scalar:
		return classInteger
	case s.Width == "Str":
		return classString
	case s.Width == "Sl":
		return classSlice
	case s.Width == "If":
		return classInterface
	}
	return classPointer
}

// wordRef is the place of a word: twice its offset, plus one in the scalar file.
type wordRef int32

const wordStep wordRef = 8 << 1 // from a word to the next one of the same value

func wordRefOf(s Shape, at uint16) wordRef {
	switch {
	case s.File == Scalar:
		return wordRef(at)<<1 | 1
	case s.Width == "If":
		return (wordRef(at) - 8) << 1
	}
	return wordRef(at) << 1
}

func (l wordRef) address(nb, sb unsafe.Pointer) unsafe.Pointer {
	base := sb
	if l&1 != 0 {
		base = nb
	}
	return unsafe.Add(base, l>>1)
}

// word returns the word at l.
func word(nb, sb unsafe.Pointer, l wordRef) uintptr { return *(*uintptr)(l.address(nb, sb)) }

// float returns the float64 at l.
func float(nb, sb unsafe.Pointer, l wordRef) float64 { return *(*float64)(l.address(nb, sb)) }

// result is where an adapter stores a result. Of an integer of less than 64 bits, the CPU's register has
// undefined bits above.
type result struct {
	class  abiClass
	at     wordRef
	unused uint8 // how many bits are undefined
	signed bool
}

func resultOf(s Shape, at uint16) result {
	r := result{class: classOf(s), at: wordRefOf(s, at)}
	if r.class == classInteger && s.Width != "64" {
		r.unused = uint8(64 - 8*s.Type.Size())
		r.signed = s.Width[len(s.Width)-1] == 'S'
	}
	return r
}

// store stores a result in its register and extends small integers.
func store[T any](nb, sb unsafe.Pointer, r result, v T) {
	at := r.at.address(nb, sb)
	*(*T)(at) = v
	if r.unused == 0 {
		return
	}
	if r.signed {
		*(*int64)(at) = *(*int64)(at) << r.unused >> r.unused
	} else {
		*(*uint64)(at) = *(*uint64)(at) << r.unused >> r.unused
	}
}

// The most integer registers and floating-point registers that adapters use. There are 9 and 15 on amd64, and more on arm64.
const (
	maxWords  = 9
	maxFloats = 3
)

// callSignature is the signature for which an adapter is needed.
type callSignature struct {
	words           [maxWords]wordRef  // of the arguments in integer registers
	floats          [maxFloats]wordRef // of the arguments in floating-point registers
	nWords, nFloats int
	out             []result
}

// onStack says that arguments and results are on the stack.
const onStack = runtime.GOARCH == "wasm"

// fits reports whether an adapter that passes this many words and floats serves for the signature.
func (c *callSignature) fits(words, floats int) bool {
	if onStack {
		return c.nWords == words && floats == 0
	}
	return c.nWords <= words && c.nFloats <= floats
}

// reinterpret returns the function or channel value at f as a value of another type with the same
// representation.
func reinterpret[F any](f unsafe.Pointer) F { return *(*F)(unsafe.Pointer(&f)) }
