package rt

import (
	"sync/atomic"
	"unsafe"
)

// StorePosition sets the interpreted position variable atomically. Lowered code only uses
// it under the race detector, because goroutines share the variable, and assigns to the
// variable otherwise.
func StorePosition(p *int, number int) {
	atomic.StoreUintptr((*uintptr)(unsafe.Pointer(p)), uintptr(number))
}

// LoadPosition returns the value of the interpreted position variable.
func LoadPosition(p *int) int {
	return int(atomic.LoadUintptr((*uintptr)(unsafe.Pointer(p))))
}
