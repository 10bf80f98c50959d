package rt

import (
	"sync/atomic"
	"unsafe"
)

// StorePosition sets the interpreted position variable. Lowered code assigns to
// it instead, unless it runs under the race detector: goroutines share it.
func StorePosition(p *int, number int) {
	atomic.StoreUintptr((*uintptr)(unsafe.Pointer(p)), uintptr(number))
}

// LoadPosition returns the value of the interpreted position variable.
func LoadPosition(p *int) int {
	return int(atomic.LoadUintptr((*uintptr)(unsafe.Pointer(p))))
}
