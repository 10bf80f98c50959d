package rt

import (
	"math/bits"
	"unsafe"

	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

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
