package vm

import (
	"runtime"
	"unsafe"
)

// An adapter calls the function value at f, whose arguments are in the registers
// of nb and sb, and puts its results there.
type adapter func(f, nb, sb unsafe.Pointer)

// class is what travels alike in a call: a value of one class may be passed for
// another of it, since the registers are the same. That holds where Go passes
// arguments in registers (see the ABIInternal specification in Go's source,
// cmd/compile/abi-internal.md): an integer of any width is in a whole one, of which
// the callee reads its part.
type abiClass uint8

const (
	noClass abiClass = iota
	classInteger
	classSmall // results only: what is above their width means nothing
	classFloat
	classString
	classPointer
	classSlice
	classInterface
)

// registerCount is how many integer registers a value of a class takes.
var registerCount = [...]int{classInteger: 1, classSmall: 1, classString: 2, classPointer: 1, classSlice: 3, classInterface: 2}

// registerWords is how many integer registers there are for arguments, and for
// results, on the smallest of the processors in question.
const maxRegisters = 9

// spot is where an argument or a result lies.
type valueRef struct {
	class  abiClass
	scalar bool
	offset int
	width  string // of a small integer
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

// calling is a call that an adapter is looked for.
type callSignature struct{ in, out []valueRef }

// adapterFor finds the adapter for a signature; nil if there is none, and the way
// through package reflect is left.
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

// at returns the address of a spot, as that of a value of its class.
func argumentAt[T any](nb, sb unsafe.Pointer, p valueRef) *T {
	if p.scalar {
		return (*T)(unsafe.Add(nb, p.offset))
	}
	return (*T)(unsafe.Add(sb, p.offset))
}

// give puts a result where it belongs.
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

// as returns the function value at f as one of another type with the same classes.
func reinterpret[F any](f unsafe.Pointer) F { return *(*F)(unsafe.Pointer(&f)) }
