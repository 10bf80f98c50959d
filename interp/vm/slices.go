package vm

import (
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

func panicNil() { panic(rt.NilDereference()) }

// bound is a bound of a slice expression. Without a register, the expression leaves it out.
type bound struct {
	reg      uint16
	unsigned bool // it may be too large for an int
}

func (b bound) value(nb unsafe.Pointer) rt.Bound {
	if b.reg == noRegister {
		return rt.Bound{}
	}
	n := *intAt(nb, b.reg)
	if b.unsigned {
		return rt.AtUnsigned(uint64(n))
	}
	return rt.At(int(n))
}

// reslice returns h[low:high:most] for elements of the given size.
func reslice(h sliceHeader, low, high, most rt.Bound, size uintptr, array bool) sliceHeader {
	rt.CheckSlice(low, high, most, h.length, h.capacity, !array)
	from, to, end := low.Or(0), high.Or(h.length), most.Or(h.capacity)
	// A pointer past the end may point to another object.
	p := h.data
	if end-from > 0 {
		p = unsafe.Add(p, uintptr(from)*size)
	}
	return sliceHeader{p, to - from, end - from}
}

// appendOne returns append(h, x) for the value in a register. reflect.Value.Grow grows a slice as append
// does.
func appendOne(h sliceHeader, typ reflect.Type, s shape, nb, sb unsafe.Pointer, at uint16) sliceHeader {
	if h.length == h.capacity {
		h = growSlice(h, typ, 1)
	}
	s.spill(nb, sb, at, unsafe.Add(h.data, uintptr(h.length)*s.typ.Size()))
	h.length++
	return h
}

// growSlice grows the capacity of h by n more elements.
func growSlice(h sliceHeader, typ reflect.Type, n int) sliceHeader {
	if h.length+n < 0 {
		_ = append(make([]struct{}, h.length), make([]struct{}, n)...) // panics as Go does
	}
	rt.Allocate(h.length+n, int(typ.Elem().Size()))
	v := reflect.NewAt(typ, unsafe.Pointer(&h)).Elem()
	v.Grow(n)
	return h
}
