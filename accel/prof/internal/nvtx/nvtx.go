//go:build linux && cgo

package nvtx

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "client.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/quernlab/quern/internal/loader"
	"github.com/quernlab/quern/internal/trust"
)

// variable is the environment variable with the path of the profiler's library.
const variable = "NVTX_INJECTION64_PATH"

// ErrNoTool reports that no profiler is attached.
var ErrNoTool = errors.New("no profiler is attached: start the program with nsys profile or ncu")

// Open connects the process with the profiler that has started it. Only the first call has
// an effect; later calls return the same result. The error wraps [ErrNoTool].
var Open = sync.OnceValue(func() error {
	path := os.Getenv(variable)
	if path == "" {
		return fmt.Errorf("nvtx: %w", ErrNoTool)
	}
	path, err := trusted(path)
	if err != nil {
		return fmt.Errorf("nvtx: %w: %s: %w", ErrNoTool, variable, err)
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	switch C.quern_nvtx_open(name) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("nvtx: %w: the library %s in %s cannot be loaded", ErrNoTool, path, variable)
	case 2:
		return fmt.Errorf("nvtx: %w: %s has no InitializeInjectionNvtx2", ErrNoTool, path)
	}
	return fmt.Errorf("nvtx: %w: %s failed to initialize", ErrNoTool, path)
})

// trusted returns the path of the library, or an error if another user can write to it. A
// name without a slash is searched for as the dynamic loader does.
func trusted(path string) (string, error) {
	if !strings.Contains(path, "/") {
		return loader.Find(path, loader.Path())
	}
	err := trust.File(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil // loading it will fail
	}
	return path, err
}

// Begin begins a range, and end ends it. Open must have succeeded.
func Begin(name string) (end func()) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	id := C.quern_nvtx_begin(text)
	return func() { C.quern_nvtx_end(id) }
}
