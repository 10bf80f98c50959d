package vm

import (
	"reflect"
	"unsafe"
)

// allocators allocate variables of small types with pointers. The garbage collector only needs to know
// which words are pointers (P) and which are not (N). reflect.New takes several times as long.
var allocators = map[string]func() unsafe.Pointer{
	"P":    allocate1[p],
	"PP":   allocate2[p, p],
	"PN":   allocate2[p, n],
	"NP":   allocate2[n, p],
	"PPP":  allocate3[p, p, p],
	"PPN":  allocate3[p, p, n],
	"PNP":  allocate3[p, n, p],
	"PNN":  allocate3[p, n, n],
	"NPP":  allocate3[n, p, p],
	"NPN":  allocate3[n, p, n],
	"NNP":  allocate3[n, n, p],
	"PPPP": allocate4[p, p, p, p],
	"PPPN": allocate4[p, p, p, n],
	"PPNP": allocate4[p, p, n, p],
	"PPNN": allocate4[p, p, n, n],
	"PNPP": allocate4[p, n, p, p],
	"PNPN": allocate4[p, n, p, n],
	"PNNP": allocate4[p, n, n, p],
	"PNNN": allocate4[p, n, n, n],
	"NPPP": allocate4[n, p, p, p],
	"NPPN": allocate4[n, p, p, n],
	"NPNP": allocate4[n, p, n, p],
	"NPNN": allocate4[n, p, n, n],
	"NNPP": allocate4[n, n, p, p],
	"NNPN": allocate4[n, n, p, n],
	"NNNP": allocate4[n, n, n, p],
}

type (
	p = unsafe.Pointer
	n = uintptr
)

func allocate1[A any]() unsafe.Pointer { return unsafe.Pointer(new(A)) }

func allocate2[A, B any]() unsafe.Pointer {
	return unsafe.Pointer(new(struct {
		a A
		b B
	}))
}

func allocate3[A, B, C any]() unsafe.Pointer {
	return unsafe.Pointer(new(struct {
		a A
		b B
		c C
	}))
}

func allocate4[A, B, C, D any]() unsafe.Pointer {
	return unsafe.Pointer(new(struct {
		a A
		b B
		c C
		d D
	}))
}

// allocator returns the function that allocates a type with this pointer mask; nil if there is none.
func allocator(pointerMask []bool) func() unsafe.Pointer {
	var name []byte
	for _, isPointer := range pointerMask {
		if isPointer {
			name = append(name, 'P')
		} else {
			name = append(name, 'N')
		}
	}
	return allocators[string(name)]
}

// sliceAllocator returns the function that makes slices of a type. Package reflect takes several times as long, so it
// makes only those whose elements have an unusual size or layout.
func sliceAllocator(typ reflect.Type) func(length, capacity int) sliceHeader {
	elem := typ.Elem()
	switch elem.Kind() {
	case reflect.Interface:
		return elements[any]
	case reflect.String:
		return elements[string]
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return elements[p]
	}
	if !hasPointers(elem) {
		switch elem.Size() {
		case 1:
			return elements[uint8]
		case 2:
			return elements[uint16]
		case 4:
			return elements[uint32]
		case 8:
			return elements[uint64]
		}
	}
	size := elem.Size()
	return func(length, capacity int) sliceHeader {
		if length < 0 || capacity < length || size > 0 && uintptr(capacity) > maxAllocation/size {
			return elements[[1 << 10]byte](length, capacity) // panics as Go does
		}
		return sliceHeader{reflect.MakeSlice(typ, length, capacity).UnsafePointer(), length, capacity}
	}
}

const maxAllocation = 1 << 47

func elements[T any](length, capacity int) sliceHeader {
	s := make([]T, length, capacity)
	return *(*sliceHeader)(unsafe.Pointer(&s))
}
