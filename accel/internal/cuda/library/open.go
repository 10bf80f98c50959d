//go:build linux && cgo

package library

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "open.h"
import "C"

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"
)

// Handle is a library that is loaded. It stays so until the process ends.
type Handle struct {
	Place
	Version Version
	CUDA    int // version of CUDA that it is made for, 1000*major + 10*minor; 0 where it does not tell
	library unsafe.Pointer
}

// opened are the results of Open, as loading takes its time.
var opened sync.Map // of *Library: func() (*Handle, error)

// Open loads the first library of those that [Library.Places] gives whose version is
// used, once in a process. It may be called by several goroutines.
func (l *Library) Open() (*Handle, error) {
	once, _ := opened.LoadOrStore(l, sync.OnceValues(func() (*Handle, error) { return l.open(ThisMachine()) }))
	return once.(func() (*Handle, error))()
}

// OpenIn loads the library of one folder.
func (l *Library) OpenIn(folder string) (*Handle, error) {
	return l.open(Machine{Env: func(name string) string {
		if name == Variable {
			return folder
		}
		return ""
	}})
}

func (l *Library) open(m Machine) (*Handle, error) {
	places, err := l.Places(m)
	if err != nil {
		return nil, err
	}
	var refused []error
	for _, place := range places {
		h, err := l.load(place)
		if err == nil {
			return h, nil
		}
		if filepath.Base(place.Path) == place.Path && absent(err) {
			continue // the loader has none
		}
		refused = append(refused, err)
	}
	if len(refused) == 0 {
		return nil, &MissingError{Library: l, Only: m.Env(Variable)}
	}
	return nil, errors.Join(refused...)
}

// absent tells an error of the loader that says that there is no such file from one
// about a file.
func absent(err error) bool {
	var e *LoadError
	return errors.As(err, &e) && strings.HasPrefix(e.Reason, e.Path+": cannot open shared object file: No such file")
}

// load opens a library and asks for its version. What is refused is closed again.
func (l *Library) load(place Place) (*Handle, error) {
	if filepath.Base(place.Path) != place.Path {
		if err := l.whole(place.Path); err != nil {
			return nil, err
		}
	}
	path, symbol := C.CString(place.Path), C.CString(l.symbol)
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(symbol))
	var reason [512]C.char
	library := C.quern_library_open(path, &reason[0], C.int(len(reason)))
	if library == nil {
		return nil, &LoadError{Path: place.Path, Reason: C.GoString(&reason[0])}
	}
	h := &Handle{Place: place, library: library}
	tells, err := h.Symbol(l.symbol)
	if err == nil {
		var at [4096]C.char
		if C.quern_library_path(C.uintptr_t(tells), &at[0], C.int(len(at))) != 0 {
			h.Path = C.GoString(&at[0])
		}
		argument := C.int(0)
		if l.argument {
			argument = 1
		}
		number := C.quern_library_version(C.uintptr_t(tells), argument)
		h.Version, err = l.check(h.Path, int(number))
	}
	if err == nil && l.runtime != "" {
		if tells, err = h.Symbol(l.runtime); err == nil {
			h.CUDA = int(C.quern_library_version(C.uintptr_t(tells), 0))
		}
	}
	if err != nil {
		C.quern_library_close(library)
		return nil, err
	}
	return h, nil
}

// Symbol finds a function of the library. The error is a [*LoadError].
func (h *Handle) Symbol(name string) (uintptr, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	at := uintptr(C.quern_library_symbol(h.library, c))
	if at == 0 {
		return 0, &LoadError{Path: h.Path, Reason: "has no " + name}
	}
	return at, nil
}
