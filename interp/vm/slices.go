package vm

import (
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

func panicNil() { panic(rt.NilDereference()) }

// absent stands for a bound that a slice expression does not have.
const absent = rt.Absent

func bounds(nb unsafe.Pointer, at uint16) int {
	if at == none {
		return absent
	}
	n := int(*integer(nb, at))
	if n == absent {
		n++ // out of range as well
	}
	return n
}

// reslice is h[low:high:most] for elements of the given size.
func reslice(h header, low, high, most int, size uintptr, array bool) header {
	rt.CheckSlice(rt.Bound{Value: low}, rt.Bound{Value: high}, rt.Bound{Value: most}, h.n, h.c, !array)
	from, to, end := 0, h.n, h.c
	if low != absent {
		from = low
	}
	if high != absent {
		to = high
	}
	if most != absent {
		end = most
	}
	// Not behind the end, which may be another object.
	p := h.p
	if end-from > 0 {
		p = unsafe.Add(p, uintptr(from)*size)
	}
	return header{p, to - from, end - from}
}

// appendOne is append(h, x) for the value in a register. Package reflect grows a
// slice as append does.
func appendOne(h header, typ reflect.Type, s shape, nb, sb unsafe.Pointer, at uint16) header {
	if h.n == h.c {
		h = growSlice(h, typ, 1)
	}
	s.spill(nb, sb, at, unsafe.Add(h.p, uintptr(h.n)*s.typ.Size()))
	h.n++
	return h
}

// growSlice makes room for n more elements, and keeps the length.
func growSlice(h header, typ reflect.Type, n int) header {
	rt.Allocate(h.n+n, int(typ.Elem().Size()))
	v := reflect.NewAt(typ, unsafe.Pointer(&h)).Elem()
	v.Grow(n)
	return h
}
