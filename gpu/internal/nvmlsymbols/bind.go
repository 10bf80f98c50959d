//go:build linux && cgo && (amd64 || arm64)

package nvmlsymbols

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "bind.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Bind loads the library at a path, or with a name that the dynamic linker finds, and makes the
// functions call it. The library stays loaded: another Bind replaces it, and calls into the
// first one that are still running stay valid.
func Bind(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	// dlerror is per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if reason := C.quern_nvml_bind(name); reason != nil {
		return fmt.Errorf("open %s: %s", path, C.GoString(reason))
	}
	return nil
}
