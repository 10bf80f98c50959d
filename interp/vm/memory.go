package vm

import (
	"reflect"
	"unsafe"
)

// memoryType describes a type whose values the VM allocates, copies or clears.
type memoryType struct {
	typ         reflect.Type
	size        uintptr
	pointerMask []bool // which words are pointers; nil if none is, or the type is too large
	noPointers  bool
	allocate    func() unsafe.Pointer // returns a new variable; nil: package reflect allocates it
}

// maxMaskWords is the size up to which copying by the pointer mask is faster than package reflect.
const maxMaskWords = 32

func (vm *VM) memoryType(t reflect.Type) *memoryType {
	if known, ok := vm.types[t]; ok {
		return known
	}
	made := newMemoryType(t)
	vm.types[t] = made
	return made
}

func newMemoryType(t reflect.Type) *memoryType {
	made := &memoryType{typ: t, size: t.Size(), noPointers: !hasPointers(t)}
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
func (y *memoryType) alloc() unsafe.Pointer {
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
func (y *memoryType) copy(dst, src unsafe.Pointer) {
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
func (y *memoryType) swap(x, z unsafe.Pointer) {
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

func (y *memoryType) clone(src unsafe.Pointer) unsafe.Pointer {
	dst := y.alloc()
	y.copy(dst, src)
	return dst
}

func (y *memoryType) zero(p unsafe.Pointer) {
	if y.noPointers {
		clear(unsafe.Slice((*byte)(p), y.size))
		return
	}
	reflect.NewAt(y.typ, p).Elem().SetZero()
}
