package vm

import (
	"runtime"
	"unsafe"
)

// An adapter calls the function value at f with the arguments in the registers at nb and sb, and stores its
// results there.
type adapter func(f, nb, sb unsafe.Pointer)

// abiClass groups types that Go passes in the same registers, so a function may be called as if its
// parameters had other types of the same classes. In particular, an integer of any width takes a whole
// register, of which the callee reads only its part. See Go's ABIInternal specification,
// cmd/compile/abi-internal.md.
type abiClass uint8

const (
	noClass abiClass = iota
	classInteger
	classSmall // only for results: the bits above the width are undefined
	classFloat
	classString
	classPointer
	classSlice
	classInterface
)

// registerCount is the number of integer registers that a value of a class takes.
var registerCount = [...]int{classInteger: 1, classSmall: 1, classString: 2, classPointer: 1, classSlice: 3, classInterface: 2}

// maxRegisters is the number of integer registers for arguments, and for results, on amd64; arm64 has more.
const maxRegisters = 9

// valueRef is the register of an argument or a result.
type valueRef struct {
	class  abiClass
	scalar bool
	offset int
	width  string // of an integer
}

func valueRefOf(s shape, at uint16) valueRef {
	p := valueRef{offset: int(at), scalar: s.file == scalar}
	switch {
	case s.file == memory || s.typ == nil:
	case s.file == scalar && s.typ.Kind().String() == "float64":
		p.class = classFloat
	case s.file == scalar && s.typ.Kind().String() == "float32":
	case s.file == scalar:
		p.class, p.width = classInteger, s.width
	case s.width == "Str":
		p.class = classString
	case s.width == "Sl":
		p.class = classSlice
	case isComplex(s):
	case s.width == "If":
		p.class, p.offset = classInterface, p.offset-8
	default:
		p.class = classPointer
	}
	return p
}

// callSignature is the signature for which an adapter is needed.
type callSignature struct{ in, out []valueRef }

// adapterFor returns the adapter for a signature. If it returns nil, package reflect must make the call.
func adapterFor(parameters []shape, in []uint16, results []shape, out []uint16) adapter {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil
	}
	c := &callSignature{}
	total := 0
	for i, s := range parameters {
		p := valueRefOf(s, in[i])
		if p.class == noClass {
			return nil
		}
		total += registerCount[p.class]
		c.in = append(c.in, p)
	}
	if total > maxRegisters {
		return nil
	}
	for i, s := range results {
		p := valueRefOf(s, out[i])
		if p.class == noClass {
			return nil
		}
		if p.class == classInteger && p.width != "64" {
			p.class = classSmall
		}
		c.out = append(c.out, p)
	}
	return c.adapter()
}

// argumentAt returns the address of an argument or result as a pointer to the type that stands for its
// class.
func argumentAt[T any](nb, sb unsafe.Pointer, p valueRef) *T {
	if p.scalar {
		return (*T)(unsafe.Add(nb, p.offset))
	}
	return (*T)(unsafe.Add(sb, p.offset))
}

// storeResult stores a result in its register and extends small integers.
func storeResult[T any](nb, sb unsafe.Pointer, p valueRef, v T) {
	*argumentAt[T](nb, sb, p) = v
	if p.class != classSmall {
		return
	}
	n := (*int64)(unsafe.Add(nb, p.offset))
	switch p.width {
	case "8U":
		*n = int64(uint8(*n))
	case "8S":
		*n = int64(int8(*n))
	case "16U":
		*n = int64(uint16(*n))
	case "16S":
		*n = int64(int16(*n))
	case "32U":
		*n = int64(uint32(*n))
	case "32S":
		*n = int64(int32(*n))
	}
}

// reinterpret returns the function or channel value at f as a value of another type with the same
// representation.
func reinterpret[F any](f unsafe.Pointer) F { return *(*F)(unsafe.Pointer(&f)) }
