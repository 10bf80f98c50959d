package vm

import (
	"reflect"
	"unsafe"
)

// MemoryType describes a type whose values the VM allocates, copies or clears.
type MemoryType struct {
	typ         reflect.Type
	size        uintptr
	pointerMask []bool // which words are pointers; nil if none is, or the type is too large
	noPointers  bool
	allocate    func() unsafe.Pointer // returns a new variable; nil: package reflect allocates it
}

// maxMaskWords is the size up to which copying by the pointer mask is faster than package reflect.
const maxMaskWords = 32

func newMemoryType(t reflect.Type) *MemoryType {
	made := &MemoryType{typ: t, size: t.Size(), noPointers: !hasPointers(t)}
	if !made.noPointers && t.Size() <= maxMaskWords*8 {
		made.pointerMask = make([]bool, t.Size()/8)
		markPointers(t, 0, made.pointerMask)
		made.allocate = allocator(made.pointerMask)
	}
	return made
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128
}

// markPointers sets mask for the pointers of a value of type t at offset.
func markPointers(t reflect.Type, offset uintptr, mask []bool) {
	switch t.Kind() {
	case reflect.Array:
		for i := range t.Len() {
			markPointers(t.Elem(), offset+uintptr(i)*t.Elem().Size(), mask)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			markPointers(f.Type, offset+f.Offset, mask)
		}
	case reflect.Interface:
		mask[offset/8], mask[offset/8+1] = true, true
	default:
		if t.Kind() > reflect.Complex128 {
			mask[offset/8] = true
		}
	}
}

// alloc returns a new variable.
func (y *MemoryType) alloc() unsafe.Pointer {
	if y.allocate != nil {
		return y.allocate()
	}
	if y.noPointers {
		size := y.size
		if size > 0 && size < 16 && y.typ.Kind() == reflect.Struct {
			size = 16 // smaller objects share a block of 16 bytes, so that a finalizer or a weak pointer may see them live on
		}
		switch size {
		case 8:
			return unsafe.Pointer(new(int64))
		case 16:
			return unsafe.Pointer(new([2]int64))
		case 24:
			return unsafe.Pointer(new([3]int64))
		case 32:
			return unsafe.Pointer(new([4]int64))
		}
	}
	return reflect.New(y.typ).UnsafePointer()
}

// copy assigns the value at src to the variable at dst.
func (y *MemoryType) copy(dst, src unsafe.Pointer) {
	switch {
	case y.noPointers:
		copy(unsafe.Slice((*byte)(dst), y.size), unsafe.Slice((*byte)(src), y.size))
	case y.pointerMask != nil && dst != src:
		if uintptr(dst)-uintptr(src) < y.size || uintptr(src)-uintptr(dst) < y.size {
			break // they overlap
		}
		for i, isPointer := range y.pointerMask {
			if isPointer {
				*(*unsafe.Pointer)(unsafe.Add(dst, i*8)) = *(*unsafe.Pointer)(unsafe.Add(src, i*8))
			} else {
				*(*int64)(unsafe.Add(dst, i*8)) = *(*int64)(unsafe.Add(src, i*8))
			}
		}
		return
	}
	if !y.noPointers {
		reflect.NewAt(y.typ, dst).Elem().Set(reflect.NewAt(y.typ, src).Elem())
	}
}

// maxStackSwap is the size up to which values without pointers are swapped in a buffer on the stack.
const maxStackSwap = 64

// swap exchanges the values at x and z. They must be the same variable or not overlap.
func (y *MemoryType) swap(x, z unsafe.Pointer) {
	if x == z {
		return
	}
	if y.noPointers && y.size <= maxStackSwap {
		var buffer [maxStackSwap]byte
		a, b := unsafe.Slice((*byte)(x), y.size), unsafe.Slice((*byte)(z), y.size)
		copy(buffer[:], a)
		copy(a, b)
		copy(b, buffer[:y.size])
		return
	}
	if y.pointerMask == nil {
		buffer := y.clone(x)
		y.copy(x, z)
		y.copy(z, buffer)
		return
	}
	for i, isPointer := range y.pointerMask {
		if isPointer {
			a, b := (*unsafe.Pointer)(unsafe.Add(x, i*8)), (*unsafe.Pointer)(unsafe.Add(z, i*8))
			*a, *b = *b, *a
		} else {
			a, b := (*int64)(unsafe.Add(x, i*8)), (*int64)(unsafe.Add(z, i*8))
			*a, *b = *b, *a
		}
	}
}

func (y *MemoryType) clone(src unsafe.Pointer) unsafe.Pointer {
	dst := y.alloc()
	y.copy(dst, src)
	return dst
}

func (y *MemoryType) zero(p unsafe.Pointer) {
	if y.noPointers {
		clear(unsafe.Slice((*byte)(p), y.size))
		return
	}
	reflect.NewAt(y.typ, p).Elem().SetZero()
}

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
func sliceAllocator(typ reflect.Type) func(length, capacity int) SliceHeader {
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
	return func(length, capacity int) SliceHeader {
		if length < 0 || capacity < length || size > 0 && uintptr(capacity) > maxAllocation/size {
			return elements[[1 << 10]byte](length, capacity) // panics as Go does
		}
		return SliceHeader{reflect.MakeSlice(typ, length, capacity).UnsafePointer(), length, capacity}
	}
}

const maxAllocation = 1 << 47

func elements[T any](length, capacity int) SliceHeader {
	s := make([]T, length, capacity)
	return *(*SliceHeader)(unsafe.Pointer(&s))
}
