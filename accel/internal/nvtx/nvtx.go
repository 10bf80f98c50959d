//go:build linux && cgo

package nvtx

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "client.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"
)

// variable is where a tool says which library of its is to be opened.
const variable = "NVTX_INJECTION64_PATH"

// ErrNoTool says that no tool watches the process.
var ErrNoTool = errors.New("no tool watches the program: start it with nsys profile or ncu")

// Open connects the process with the tool that watches it, the first time that it is
// called. The error wraps [ErrNoTool] if there is none.
var Open = sync.OnceValue(func() error {
	path := os.Getenv(variable)
	if path == "" {
		return fmt.Errorf("nvtx: %w", ErrNoTool)
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	switch C.quern_nvtx_open(name) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("nvtx: %w: %s, which %s names, cannot be opened", ErrNoTool, path, variable)
	case 2:
		return fmt.Errorf("nvtx: %w: %s has no InitializeInjectionNvtx2", ErrNoTool, path)
	}
	return fmt.Errorf("nvtx: %w: %s refuses to begin", ErrNoTool, path)
})

// Begin begins a range; what is returned ends it. Open must have succeeded.
func Begin(name string) (end func()) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	id := C.quern_nvtx_begin(text)
	return func() { C.quern_nvtx_end(id) }
}
