package vm

import (
	"math"
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
		return rt.Bound{Value: rt.Absent}
	}
	n := int(*intAt(nb, b.reg))
	switch {
	case b.unsigned && n < 0:
		return rt.Bound{Value: math.MaxInt, Large: uint64(n)}
	case n == rt.Absent:
		n++ // also out of range
	}
	return rt.Bound{Value: n}
}

// reslice returns h[low:high:most] for elements of the given size.
func reslice(h sliceHeader, low, high, most rt.Bound, size uintptr, array bool) sliceHeader {
	rt.CheckSlice(low, high, most, h.length, h.capacity, !array)
	from, to, end := 0, h.length, h.capacity
	if low.Value != rt.Absent {
		from = low.Value
	}
	if high.Value != rt.Absent {
		to = high.Value
	}
	if most.Value != rt.Absent {
		end = most.Value
	}
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
	rt.Allocate(h.length+n, int(typ.Elem().Size()))
	v := reflect.NewAt(typ, unsafe.Pointer(&h)).Elem()
	v.Grow(n)
	return h
}
