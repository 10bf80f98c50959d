package rt

import (
	"math/bits"
	"reflect"
	"unsafe"

	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

// UnsafeSlice is unsafe.Slice of a raw pointer; the result is a raw slice.
func UnsafeSlice(pointer any, length int) any {
	p := reflect.ValueOf(pointer)
	CheckUnsafeSlice(p.UnsafePointer(), p.Type().Elem().Size(), length)
	if p.IsNil() {
		return reflect.Zero(reflect.SliceOf(p.Type().Elem())).Interface()
	}
	header := struct {
		data             unsafe.Pointer
		length, capacity int
	}{p.UnsafePointer(), length, length}
	return reflect.NewAt(reflect.SliceOf(p.Type().Elem()), unsafe.Pointer(&header)).Elem().Interface()
}

// CheckUnsafeSlice panics as unsafe.Slice does if there cannot be length elements of the given size at p.
func CheckUnsafeSlice(p unsafe.Pointer, size uintptr, length int) {
	over, bytes := bits.Mul(uint(size), uint(length))
	switch {
	case p == nil && length > 0:
		panic(goruntime.ErrorString("unsafe.Slice: ptr is nil and len is not zero"))
	case length < 0 || over != 0 || p != nil && uintptr(bytes) > -uintptr(p):
		panic(goruntime.ErrorString("unsafe.Slice: len out of range"))
	}
}

// UnsafeSliceData is unsafe.SliceData of a raw slice; the result is a raw pointer.
func UnsafeSliceData(slice any) any {
	s := reflect.ValueOf(slice)
	return reflect.NewAt(s.Type().Elem(), s.UnsafePointer()).Interface()
}

// UnsafeString is unsafe.String.
func UnsafeString(pointer *byte, length int) string {
	switch {
	case length < 0:
		panic(goruntime.ErrorString("unsafe.String: len out of range"))
	case pointer == nil && length > 0:
		panic(goruntime.ErrorString("unsafe.String: ptr is nil and len is not zero"))
	}
	return unsafe.String(pointer, length)
}

// UnsafeStringData is unsafe.StringData.
func UnsafeStringData(s string) *byte { return unsafe.StringData(s) }

// UnsafeAdd is unsafe.Add.
func UnsafeAdd(pointer unsafe.Pointer, length int) unsafe.Pointer {
	return unsafe.Add(pointer, length)
}

// InterfaceData returns the pointer to the data of an interface as compiled code represents it: x itself if it is a pointer, and
// else a pointer to a value that must not be changed. It keeps a function alive for ever: compiled functions need no memory, so
// code that was translated from C holds and compares their addresses as numbers, which the garbage collector does not see.
func (r *Registry) InterfaceData(x any) unsafe.Pointer {
	raw := r.Value(x)
	data := (*[2]unsafe.Pointer)(unsafe.Pointer(&raw))[1]
	if raw == nil || reflect.TypeOf(raw).Kind() != reflect.Func {
		return data
	}
	var key any = data
	if pc, ok := r.config.FunctionPointer(reflect.ValueOf(raw)); ok && r.config.Declared(pc) {
		key = functionKey{reflect.TypeOf(raw), pc} // each use of the name of a function makes another value
	}
	kept, _ := r.numbered.LoadOrStore(key, raw)
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&kept))[1]
}

// functionKey identifies a declared function.
type functionKey struct {
	t  reflect.Type
	pc uintptr
}
