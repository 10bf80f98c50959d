package vm

import (
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

func panicNil() { panic(rt.NilDereference()) }

// absent stands for an omitted bound of a slice expression.
const absent = rt.Absent

func bounds(nb unsafe.Pointer, at uint16) int {
	if at == noRegister {
		return absent
	}
	n := int(*intAt(nb, at))
	if n == absent {
		n++ // also out of range
	}
	return n
}

// reslice returns h[low:high:most] for elements of the given size.
func reslice(h sliceHeader, low, high, most int, size uintptr, array bool) sliceHeader {
	rt.CheckSlice(rt.Bound{Value: low}, rt.Bound{Value: high}, rt.Bound{Value: most}, h.length, h.capacity, !array)
	from, to, end := 0, h.length, h.capacity
	if low != absent {
		from = low
	}
	if high != absent {
		to = high
	}
	if most != absent {
		end = most
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
