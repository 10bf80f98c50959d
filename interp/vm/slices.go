package vm

import (
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// MakeSlice returns an implementation of make for a slice. It checks the length and capacity as Go does.
func MakeSlice(typ reflect.Type, at, length, capacity uint16) *Native {
	size, allocate := int(typ.Elem().Size()), sliceAllocator(typ)
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		n := int(*IntAt(nb, length))
		most := n
		if capacity != NoRegister {
			most = int(*IntAt(nb, capacity))
		}
		if n >= 0 && n <= most {
			rt.Allocate(most, size)
		}
		*SliceAt(sb, at) = allocate(n, most)
	}}
}

// MakeElements makes a slice with this number of elements in register at.
func MakeElements(typ reflect.Type, at uint16, length int) *Native {
	allocate := sliceAllocator(typ)
	return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) { *SliceAt(sb, at) = allocate(length, length) }}
}

// Bound is a bound of a slice expression. Without a register, the expression leaves it out.
type Bound struct {
	Reg      uint16
	Unsigned bool // it may be too large for an int
}

func (b Bound) value(nb unsafe.Pointer) rt.Bound {
	if b.Reg == NoRegister {
		return rt.Bound{}
	}
	n := *IntAt(nb, b.Reg)
	if b.Unsigned {
		return rt.AtUnsigned(uint64(n))
	}
	return rt.At(int(n))
}

// reslice returns h[low:high:most] for elements of the given size.
func reslice(h SliceHeader, low, high, most rt.Bound, size uintptr, array bool) SliceHeader {
	rt.CheckSlice(low, high, most, h.Length, h.Capacity, !array)
	from, to, end := low.Or(0), high.Or(h.Length), most.Or(h.Capacity)
	// A pointer past the end may point to another object.
	p := h.Data
	if end-from > 0 {
		p = unsafe.Add(p, uintptr(from)*size)
	}
	return SliceHeader{p, to - from, end - from}
}

// SliceString slices the string in register base and stores the result in register at.
func SliceString(at, base uint16, low, high Bound) *Native {
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		s := *StringAt(sb, base)
		from, to := low.value(nb), high.value(nb)
		if from.Large > 0 || to.Large > 0 {
			rt.CheckSlice(from, to, rt.Bound{}, len(s), len(s), false)
		}
		*StringAt(sb, at) = s[from.Or(0):to.Or(len(s))]
	}}
}

// SliceExpr slices the slice in register base, or the array of the given length whose address is there, and stores the result in register
// at. length is -1 for a slice; size is that of an element.
func SliceExpr(at, base uint16, length int, size uintptr, low, high, most Bound) *Native {
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		var h SliceHeader
		if length >= 0 {
			h = SliceHeader{*PointerAt(sb, base), length, length}
			if h.Data == nil {
				PanicNil()
			}
		} else {
			h = *SliceAt(sb, base)
		}
		*SliceAt(sb, at) = reslice(h, low.value(nb), high.value(nb), most.value(nb), size, length >= 0)
	}}
}

// AppendValues appends values to the slice in register from, of type typ, and stores the result in register at.
func AppendValues(at, from uint16, values []Register, typ reflect.Type) *Native {
	if len(values) == 1 {
		return appendValue(at, from, values[0], typ)
	}
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		h := *SliceAt(sb, from)
		if h.Capacity-h.Length < len(values) {
			h = growSlice(h, typ, len(values))
		}
		for _, v := range values {
			h = appendOne(h, typ, v.Shape, nb, sb, v.Reg)
		}
		*SliceAt(sb, at) = h
	}}
}

// appendValue appends one element, specialized for its representation.
func appendValue(at, from uint16, v Register, typ reflect.Type) *Native {
	x := v.Reg
	switch v.Width {
	case "64":
		return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
			*(*[]int64)(unsafe.Add(sb, at)) = append(*(*[]int64)(unsafe.Add(sb, from)), *IntAt(nb, x))
		}}
	case "8U", "8S":
		return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
			*(*[]byte)(unsafe.Add(sb, at)) = append(*(*[]byte)(unsafe.Add(sb, from)), byte(*IntAt(nb, x)))
		}}
	case "32U", "32S":
		return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
			*(*[]int32)(unsafe.Add(sb, at)) = append(*(*[]int32)(unsafe.Add(sb, from)), int32(*IntAt(nb, x)))
		}}
	case "C":
		return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) {
			*(*[]complex128)(unsafe.Add(sb, at)) = append(*(*[]complex128)(unsafe.Add(sb, from)), *Complex128At(sb, x))
		}}
	case "Str":
		return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) {
			*(*[]string)(unsafe.Add(sb, at)) = append(*(*[]string)(unsafe.Add(sb, from)), *StringAt(sb, x))
		}}
	case "P":
		if v.File == Reference {
			return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) {
				*(*[]unsafe.Pointer)(unsafe.Add(sb, at)) = append(*(*[]unsafe.Pointer)(unsafe.Add(sb, from)), *PointerAt(sb, x))
			}}
		}
	}
	s := v.Shape
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		*SliceAt(sb, at) = appendOne(*SliceAt(sb, from), typ, s, nb, sb, x)
	}}
}

// AppendToBuffer is AppendValues for a slice that may be empty: then it first gets a buffer with the capacity of Go's stack buffer, see
// package facts.
func AppendToBuffer(at, from uint16, values []Register, typ reflect.Type, capacity int) *Native {
	appendFrom, appendInPlace, allocate := AppendValues(at, from, values, typ), AppendValues(at, at, values, typ), sliceAllocator(typ)
	return &Native{Run: func(t *Thread, nb, sb unsafe.Pointer) {
		h := *SliceAt(sb, from)
		if h.Length != 0 || h.Capacity >= len(values) || len(values) > capacity {
			appendFrom.Run(t, nb, sb)
			return
		}
		*SliceAt(sb, at) = allocate(0, capacity)
		appendInPlace.Run(t, nb, sb)
	}}
}

// AppendSlice appends the slice or string in register more to the slice in register from, of type typ, and stores the result in
// register at.
func AppendSlice(at, from, more uint16, typ reflect.Type) *Native {
	return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) {
		*SliceAt(sb, at) = appendAll(*SliceAt(sb, from), *SliceAt(sb, more), typ)
	}}
}

// appendAll implements append(h, more...), where more may be a string.
func appendAll(h, more SliceHeader, typ reflect.Type) SliceHeader {
	if more.Length == 0 {
		return h
	}
	if h.Capacity-h.Length < more.Length {
		h = growSlice(h, typ, more.Length)
	}
	more.Capacity = more.Length
	n := h.Length
	h.Length += more.Length
	to := h
	to.Data = unsafe.Add(h.Data, uintptr(n)*typ.Elem().Size())
	to.Length, to.Capacity = more.Length, more.Length
	reflect.Copy(reflect.NewAt(typ, unsafe.Pointer(&to)).Elem(), reflect.NewAt(typ, unsafe.Pointer(&more)).Elem())
	return h
}

// appendOne returns append(h, x) for the value in a register. reflect.Value.Grow grows a slice as append
// does.
func appendOne(h SliceHeader, typ reflect.Type, s Shape, nb, sb unsafe.Pointer, at uint16) SliceHeader {
	if h.Length == h.Capacity {
		h = growSlice(h, typ, 1)
	}
	s.spill(nb, sb, at, unsafe.Add(h.Data, uintptr(h.Length)*s.Type.Size()))
	h.Length++
	return h
}

// growSlice grows the capacity of h by n more elements.
func growSlice(h SliceHeader, typ reflect.Type, n int) SliceHeader {
	if h.Length+n < 0 {
		_ = append(make([]struct{}, h.Length), make([]struct{}, n)...) // panics as Go does
	}
	rt.Allocate(h.Length+n, int(typ.Elem().Size()))
	v := reflect.NewAt(typ, unsafe.Pointer(&h)).Elem()
	v.Grow(n)
	return h
}

// CopySlice copies the elements of the slice or string in register from to the slice in register to, of type typ. It stores their number
// in register at.
func CopySlice(at, to, from uint16, typ reflect.Type) *Native {
	size, plain := typ.Elem().Size(), !hasPointers(typ.Elem())
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		a, b := *SliceAt(sb, to), *SliceAt(sb, from)
		n := min(a.Length, b.Length)
		if n > 0 && plain {
			copy(unsafe.Slice((*byte)(a.Data), uintptr(n)*size), unsafe.Slice((*byte)(b.Data), uintptr(n)*size))
		} else if n > 0 {
			b.Capacity = b.Length
			reflect.Copy(reflect.NewAt(typ, unsafe.Pointer(&a)).Elem(), reflect.NewAt(typ, unsafe.Pointer(&b)).Elem())
		}
		*IntAt(nb, at) = int64(n)
	}}
}
