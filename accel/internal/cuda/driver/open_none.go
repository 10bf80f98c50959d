//go:build !linux || !cgo

package driver

import (
	"fmt"
	"runtime"
)

// Open says why there is no GPU: this build has no CUDA. The error wraps
// [ErrNoGPU].
func Open() (Driver, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("%w: CUDA is used on Linux only", ErrNoGPU)
	}
	return nil, fmt.Errorf("%w: the program was built without cgo", ErrNoGPU)
}

// Symbols are the functions of the CUDA driver that the package calls: none in
// this build.
func Symbols() []string { return nil }
