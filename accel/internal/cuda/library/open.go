//go:build linux && cgo

package library

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "open.h"
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/quernlab/quern/internal/trust"
)

// Handle is a loaded library. It stays loaded until the process ends.
type Handle struct {
	Location
	Version Version
	CUDA    int // version of CUDA that it was built for, 1000*major + 10*minor; 0 if it does not say
	library unsafe.Pointer
}

// opened holds the libraries that Open has loaded, since loading is slow.
var opened sync.Map // of question: *attempt

// question is the arguments on which a result of Open depends.
type question struct {
	library *Library
	driver  int
}

// attempt is one answer of Open.
type attempt struct {
	mu     sync.Mutex
	handle *Handle // nil until a call succeeds; guarded by mu
}

// Open loads the first library that [Library.Locations] returns, whose version is supported,
// and that runs with a driver for a version of CUDA (0: unknown). A library that was loaded
// is returned again to later calls; after an error the next call searches again, since the
// library may have been installed meanwhile. Several goroutines may call Open.
func (l *Library) Open(driver int) (*Handle, error) {
	found, _ := opened.LoadOrStore(question{l, driver}, new(attempt))
	return found.(*attempt).open(func() (*Handle, error) { return l.open(ThisMachine(), driver) })
}

// open calls load unless an earlier call has succeeded.
func (a *attempt) open(load func() (*Handle, error)) (h *Handle, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.handle == nil {
		a.handle, err = load()
	}
	return a.handle, err
}

// OpenIn loads the library from one folder.
func (l *Library) OpenIn(folder string) (*Handle, error) {
	return l.open(Machine{Env: func(name string) string {
		if name == Variable {
			return folder
		}
		return ""
	}}, 0)
}

func (l *Library) open(m Machine, driver int) (*Handle, error) {
	locations, err := l.Locations(m)
	if err != nil {
		return nil, err
	}
	var refused []error
	for _, location := range locations {
		h, err := l.load(m, location, driver)
		if err == nil {
			return h, nil
		}
		refused = append(refused, err)
	}
	if len(refused) == 0 {
		return nil, &MissingError{Library: l, Only: m.Env(Variable)}
	}
	return nil, errors.Join(refused...)
}

// damaged returns the error of a file that crashes the process that loads it.
func damaged(path string, signal int) error {
	return &LoadError{Path: path, Reason: fmt.Sprintf("is damaged (%v in a process that tried it): install it again", syscall.Signal(signal))}
}

// try loads a file that whole has checked. The error is a [*LoadError].
func try(path string) (unsafe.Pointer, error) {
	c := C.CString(path)
	defer C.free(unsafe.Pointer(c))
	if signal := C.quern_library_try(c, 0, 0); signal != 0 {
		return nil, damaged(path, int(signal))
	}
	return dlopen(path)
}

// Load loads a file that is none of [All], such as the driver, and checks nothing. The error is a [*LoadError].
func Load(path string) (*Handle, error) {
	loaded, err := dlopen(path)
	return &Handle{Location: Location{Path: path}, library: loaded}, err
}

// Close closes a library of [Load] of which nothing was called.
func (h *Handle) Close() { C.quern_library_close(h.library) }

func dlopen(path string) (unsafe.Pointer, error) {
	c := C.CString(path)
	defer C.free(unsafe.Pointer(c))
	var reason [512]C.char
	library := C.quern_library_open(c, &reason[0], C.int(len(reason)))
	if library == nil {
		return nil, &LoadError{Path: path, Reason: strings.TrimPrefix(C.GoString(&reason[0]), path+": ")}
	}
	return library, nil
}

// load opens a library and checks its version. It closes one that is not supported.
func (l *Library) load(m Machine, location Location, driver int) (*Handle, error) {
	if err := l.whole(location); err != nil {
		return nil, err
	}
	library, err := try(location.Path)
	if err != nil {
		return nil, err
	}
	h := &Handle{Location: location, library: library}
	if err := l.ask(m, h, driver); err != nil {
		C.quern_library_close(library)
		return nil, err
	}
	return h, nil
}

// ask reads the versions of a loaded library and checks that they are supported.
func (l *Library) ask(m Machine, h *Handle, driver int) error {
	version, err := h.Symbol(l.symbol)
	if err != nil {
		return err
	}
	var at [4096]C.char
	if C.quern_library_path(C.uintptr_t(version), &at[0], C.int(len(at))) != 0 {
		h.Path = C.GoString(&at[0])
	}
	if l.first != "" {
		if err := h.needs(m, l.first, m.alsoFound([]Location{{Path: filepath.Join(filepath.Dir(h.Path), l.first)}}, l.first), fmt.Sprintf("install %s again", l.Name)); err != nil {
			return err
		}
	}
	if signal := C.quern_library_try(nil, C.uintptr_t(version), C.int(l.results)); signal != 0 {
		return damaged(h.Path, int(signal))
	}
	if h.Version, err = l.check(h.Path, int(C.quern_library_version(C.uintptr_t(version), C.int(l.results)))); err != nil {
		return err
	}
	if l.then != "" {
		file := fmt.Sprintf(l.then, h.Version.Major, h.Version.Minor)
		if err := h.needs(m, file, m.alsoFound([]Location{{Path: filepath.Join(filepath.Dir(h.Path), file)}}, file), fmt.Sprintf("install %s again", l.Name)); err != nil {
			return err
		}
	}
	if l.runtime != "" {
		if version, err = h.Symbol(l.runtime); err != nil {
			return err
		}
		h.CUDA = int(C.quern_library_version(C.uintptr_t(version), 0))
	}
	if err := h.Runs(driver); err != nil {
		return err
	}
	if l.calls == nil {
		return nil
	}
	return l.callee(m, h)
}

// callee loads the library that this one calls, so that the dynamic linker finds it by name
// in the process.
func (l *Library) callee(m Machine, h *Handle) error {
	file := ""
	for _, f := range l.calls.Files {
		if strings.HasSuffix(f, fmt.Sprintf(".so.%d", h.CUDA/1000)) {
			file = f
		}
	}
	if file == "" {
		return nil // it does not say which CUDA it needs, or finds the library itself
	}
	folder := filepath.Dir(h.Path)
	locations := []Location{{Path: filepath.Join(folder, file)}}
	for _, wheel := range l.calls.Wheels { // the folders in which the file searches, too
		locations = append(locations, Location{Path: filepath.Join(folder, "..", "..", "..", filepath.FromSlash(wheel), file)})
	}
	found, err := l.calls.Locations(m)
	var missing *MissingError
	if err != nil && !errors.As(err, &missing) {
		return err
	}
	for _, p := range found {
		if filepath.Base(p.Path) == file {
			locations = append(locations, p)
		}
	}
	return h.needs(m, file, m.alsoFound(locations, file), fmt.Sprintf("install it with python3 -m pip install %s", l.calls.packaged(h.CUDA/1000)))
}

// alsoFound adds the folder in which the dynamic linker finds a file.
func (m Machine) alsoFound(locations []Location, file string) []Location {
	if path, err := m.find(file); err == nil {
		locations = append(locations, Location{path, fromLoader})
	}
	return locations
}

// needs loads a dependency of a library from the first folder that has it. It is never
// closed.
func (h *Handle) needs(m Machine, file string, locations []Location, remedy string) error {
	var why error = &LoadError{Path: file, Reason: "not found"}
	for _, p := range locations {
		if !m.exists(p.Path) {
			continue
		}
		var err error
		if p.From != fromLoader && p.From != fromProcess {
			err = trust.File(p.Path)
		}
		if err == nil {
			err = whole(p.Path)
		}
		if err == nil {
			if _, err = try(p.Path); err == nil {
				return nil
			}
		}
		why = err
	}
	return &LoadError{Path: h.Path, Reason: fmt.Sprintf("needs %s, which is not usable (%v): %s", file, why, remedy)}
}

// Symbol returns the address of a function. The error is a [*LoadError].
func (h *Handle) Symbol(name string) (uintptr, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	at := uintptr(C.quern_library_symbol(h.library, c))
	if at == 0 {
		return 0, &LoadError{Path: h.Path, Reason: "has no " + name}
	}
	return at, nil
}

// Names returns the strings of an array of C strings, of which NULL is the end.
func Names(array unsafe.Pointer) (names []string) {
	for at := (**C.char)(array); *at != nil; at = (**C.char)(unsafe.Add(unsafe.Pointer(at), unsafe.Sizeof(*at))) {
		names = append(names, C.GoString(*at))
	}
	return names
}

// Table returns the addresses of functions in C memory, one after the other, which are the fields of a C struct; the
// caller frees it. The address of an optional function that the library does not have is 0. The error is a [*LoadError]
// for the first other one that it does not have.
func (h *Handle) Table(required, optional []string) (unsafe.Pointer, error) {
	table := C.calloc(C.size_t(len(required)+len(optional)), C.size_t(unsafe.Sizeof(uintptr(0))))
	for i, name := range slices.Concat(required, optional) {
		at, err := h.Symbol(name)
		if err != nil && i < len(required) {
			C.free(table)
			return nil, err
		}
		unsafe.Slice((*uintptr)(table), i+1)[i] = at
	}
	return table, nil
}
