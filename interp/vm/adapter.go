package vm

import (
	"reflect"
	"runtime"
	"unsafe"
)

// An adapter calls the function value at f with the arguments in the registers at nb and sb, and stores its
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
type adapter func(f, nb, sb unsafe.Pointer)

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

func classOf(s shape) abiClass {
	switch {
	case s.file == memory || s.typ == nil || isComplex(s) || s.typ.Kind() == reflect.Float32:
		return noClass
	case s.file == scalar && s.typ.Kind() == reflect.Float64:
		return classFloat
	case s.file == scalar:
		return classInteger
	case s.width == "Str":
		return classString
	case s.width == "Sl":
		return classSlice
	case s.width == "If":
		return classInterface
	}
	return classPointer
}

// wordRef is the place of a word: twice its offset, plus one in the scalar file.
type wordRef int32

const wordStep wordRef = 8 << 1 // from a word to the next one of the same value

func wordRefOf(s shape, at uint16) wordRef {
	switch {
	case s.file == scalar:
		return wordRef(at)<<1 | 1
	case s.width == "If":
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

func resultOf(s shape, at uint16) result {
	r := result{class: classOf(s), at: wordRefOf(s, at)}
	if r.class == classInteger && s.width != "64" {
		r.unused = uint8(64 - 8*s.typ.Size())
		r.signed = s.width[len(s.width)-1] == 'S'
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

// adapterFor returns the adapter for a signature. If it returns nil, package reflect must make the call.
func adapterFor(parameters []shape, in []uint16, results []shape, out []uint16) adapter {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" && !onStack {
		return nil
	}
	if onStack && (shareWords(parameters) || shareWords(results)) {
		return nil
	}
	c := &callSignature{}
	for i, s := range parameters {
		class, at := classOf(s), wordRefOf(s, in[i])
		if class == classFloat && onStack {
			class = classInteger
		}
		switch class {
		case noClass:
			return nil
		case classFloat:
			if c.nFloats == maxFloats {
				return nil
			}
			c.floats[c.nFloats] = at
			c.nFloats++
		default:
			if c.nWords+wordCount[class] > maxWords {
				return nil
			}
			for n := range wordCount[class] {
				c.words[c.nWords] = at + wordRef(n)*wordStep
				c.nWords++
			}
		}
	}
	for i, s := range results {
		r := resultOf(s, out[i])
		if r.class == noClass {
			return nil
		}
		c.out = append(c.out, r)
	}
	c.repeat()
	return c.adapter()
}

// adapter returns the adapter for a signature, or nil.
func (c *callSignature) adapter() adapter {
	switch len(c.out) {
	case 0:
		return noResults(c)
	case 1:
		switch c.out[0].class {
		case classInteger:
			return oneResult[int64](c)
		case classFloat:
			return oneResult[float64](c)
		case classString:
			return oneResult[string](c)
		case classPointer:
			return oneResult[unsafe.Pointer](c)
		case classSlice:
			return oneResult[[]byte](c)
		case classInterface:
			return oneResult[any](c)
		}
	case 2:
		switch c.out[1].class {
		case classInteger:
			return secondResult[int64](c)
		case classInterface:
			return secondResult[any](c)
		}
	case 3:
		if c.out[0].class == classString && c.out[1].class == classString && c.out[2].class == classInteger {
			return cutResults(c)
		}
	}
	return nil
}

// secondResult returns the adapter for a signature whose second result is of type S.
func secondResult[S any](c *callSignature) adapter {
	switch c.out[0].class {
	case classInteger:
		return twoResults[int64, S](c)
	case classFloat:
		return twoResults[float64, S](c)
	case classString:
		return twoResults[string, S](c)
	case classPointer:
		return twoResults[unsafe.Pointer, S](c)
	case classSlice:
		return twoResults[[]byte, S](c)
	case classInterface:
		return twoResults[any, S](c)
	}
	return nil
}

// cutResults is the adapter of strings.Cut and functions like it.
func cutResults(c *callSignature) adapter {
	if !c.fits(4, 0) {
		return nil
	}
	w, r, s, t := c.words, c.out[0], c.out[1], c.out[2]
	return func(f, nb, sb unsafe.Pointer) {
		a, b, d := reinterpret[func(a, b, c, d uintptr) (string, string, int64)](f)(
			word(nb, sb, w[0]), word(nb, sb, w[1]), word(nb, sb, w[2]), word(nb, sb, w[3]))
		store(nb, sb, r, a)
		store(nb, sb, s, b)
		store(nb, sb, t, d)
	}
}

// fits reports whether an adapter that passes this many words and floats serves for the signature.
func (c *callSignature) fits(words, floats int) bool {
	if onStack {
		return c.nWords == words && floats == 0
	}
	return c.nWords <= words && c.nFloats <= floats
}

// shareWords reports whether neighbors among arguments, or among results, are in the same word of the stack.
func shareWords(list []shape) bool {
	const word = unsafe.Sizeof(uintptr(0))
	for i := range list {
		if classOf(list[i]) == noClass || i > 0 && list[i-1].typ.Size() < word && uintptr(list[i].typ.Align()) < word {
			return true
		}
	}
	return false
}

// repeat makes all locations valid: an adapter may read more of them than there are arguments.
func (c *callSignature) repeat() {
	for i := c.nFloats; i < maxFloats; i++ {
		c.floats[i] = c.floats[0]
	}
	for i := c.nWords; i < maxWords; i++ {
		if c.words[i] = c.words[0]; c.nWords == 0 {
			c.words[i] = c.floats[0]
		}
	}
}

// reinterpret returns the function or channel value at f as a value of another type with the same
// representation.
func reinterpret[F any](f unsafe.Pointer) F { return *(*F)(unsafe.Pointer(&f)) }
