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
	path, err := judged(path)
	if err != nil {
		return fmt.Errorf("nvtx: %w: %s: %w", ErrNoTool, variable, err)
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

// judged returns the file that the variable names, which nobody else may have written; a
// name alone is looked for as the loader does.
func judged(path string) (string, error) {
	if !strings.Contains(path, "/") {
		return loader.Find(path, loader.Path())
	}
	err := trust.File(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil // opening it says so
	}
	return path, err
}

// Begin begins a range; what is returned ends it. Open must have succeeded.
func Begin(name string) (end func()) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	id := C.quern_nvtx_begin(text)
	return func() { C.quern_nvtx_end(id) }
}
