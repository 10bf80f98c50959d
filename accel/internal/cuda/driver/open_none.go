//go:build !linux || !cgo

package driver

import (
	"fmt"
	"runtime"
)

// Open returns an error that wraps [ErrNoGPU]: this build has no CUDA.
func Open() (Driver, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("%w: CUDA is supported on Linux only", ErrNoGPU)
	}
	return nil, fmt.Errorf("%w: the program was built without cgo", ErrNoGPU)
}
