package vm

import (
	"reflect"
	"runtime"
	"unsafe"
)

// AdapterFor returns the adapter for a signature. If it returns nil, package reflect must make the call.
func AdapterFor(parameters []Shape, in []uint16, results []Shape, out []uint16) Adapter {
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
func (c *callSignature) adapter() Adapter {
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
func secondResult[S any](c *callSignature) Adapter {
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
func cutResults(c *callSignature) Adapter {
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

// shareWords reports whether neighbors among arguments, or among results, are in the same word of the stack.
func shareWords(list []Shape) bool {
	const word = unsafe.Sizeof(uintptr(0))
	for i := range list {
		if classOf(list[i]) == noClass || i > 0 && list[i-1].Type.Size() < word && uintptr(list[i].Type.Align()) < word {
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

// NewForeignCall returns the call of a function of type t; an error if the VM does not support its parameters or results.
func NewForeignCall(t reflect.Type) (*ForeignCall, error) {
	f := &ForeignCall{typ: t}
	for in := range t.Ins() {
		s, err := ShapeOf(in)
		if err != nil {
			return nil, err
		}
		f.parameters = append(f.parameters, s)
	}
	for out := range t.Outs() {
		s, err := ShapeOf(out)
		if err != nil {
			return nil, err
		}
		f.Results = append(f.Results, s)
	}
	f.direct = AdapterFor(f.parameters, FrameRegisters(f.parameters), f.Results, FrameRegisters(f.Results))
	return f, nil
}

// call calls the function at p. The arguments are in the registers of the frame at nb and sb; the results
// replace them.
func (f *ForeignCall) call(nb, sb, p unsafe.Pointer) {
	if f.direct != nil {
		f.direct(p, nb, sb)
		return
	}
	arguments := make([]reflect.Value, len(f.parameters))
	for i, at := range FrameRegisters(f.parameters) {
		arguments[i] = f.parameters[i].Get(nb, sb, at)
	}
	results := Call(reflect.NewAt(f.typ, unsafe.Pointer(&p)).Elem(), arguments)
	for i, at := range FrameRegisters(f.Results) {
		f.Results[i].Put(nb, sb, at, results[i])
	}
}

// Call calls f, whose variadic parameter gets a slice.
func Call(f reflect.Value, arguments []reflect.Value) []reflect.Value {
	if f.Type().IsVariadic() {
		return f.CallSlice(arguments)
	}
	return f.Call(arguments)
}
