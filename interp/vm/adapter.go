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
type class uint8

const (
	noClass class = iota
	asInteger
	asSmall // results only: what is above their width means nothing
	asFloat
	asText
	asPointer
	asList
	asInterface
)

// registerCount is how many integer registers a value of a class takes.
var registerCount = [...]int{asInteger: 1, asSmall: 1, asText: 2, asPointer: 1, asList: 3, asInterface: 2}

// registerWords is how many integer registers there are for arguments, and for
// results, on the smallest of the processors in question.
const registerWords = 9

// spot is where an argument or a result lies.
type spot struct {
	class  class
	scalar bool
	at     int
	width  string // of a small integer
}

func spotOf(s shape, at uint16) spot {
	p := spot{at: int(at), scalar: s.file == scalar}
	switch {
	case s.file == memory || s.typ == nil:
	case s.file == scalar && s.typ.Kind().String() == "float64":
		p.class = asFloat
	case s.file == scalar && s.typ.Kind().String() == "float32":
	case s.file == scalar:
		p.class, p.width = asInteger, s.width
	case s.width == "Str":
		p.class = asText
	case s.width == "Sl":
		p.class = asList
	case isComplex(s):
	case s.width == "If":
		p.class, p.at = asInterface, p.at-8
	default:
		p.class = asPointer
	}
	return p
}

// calling is a call that an adapter is looked for.
type calling struct{ in, out []spot }

// adapterFor finds the adapter for a signature; nil if there is none, and the way
// through package reflect is left.
func adapterFor(parameters []shape, in []uint16, results []shape, out []uint16) adapter {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil
	}
	c := &calling{}
	total := 0
	for i, s := range parameters {
		p := spotOf(s, in[i])
		if p.class == noClass {
			return nil
		}
		total += registerCount[p.class]
		c.in = append(c.in, p)
	}
	if total > registerWords {
		return nil
	}
	for i, s := range results {
		p := spotOf(s, out[i])
		if p.class == noClass {
			return nil
		}
		if p.class == asInteger && p.width != "64" {
			p.class = asSmall
		}
		c.out = append(c.out, p)
	}
	return c.none()
}

// at returns the address of a spot, as that of a value of its class.
func at[T any](nb, sb unsafe.Pointer, p spot) *T {
	if p.scalar {
		return (*T)(unsafe.Add(nb, p.at))
	}
	return (*T)(unsafe.Add(sb, p.at))
}

// give puts a result where it belongs.
func give[T any](nb, sb unsafe.Pointer, p spot, v T) {
	*at[T](nb, sb, p) = v
	if p.class != asSmall {
		return
	}
	n := (*int64)(unsafe.Add(nb, p.at))
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
func as[F any](f unsafe.Pointer) F { return *(*F)(unsafe.Pointer(&f)) }
