//go:build linux && cgo

package nvrtc

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"strings"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/library"
)

// compilationFailed is NVRTC_ERROR_COMPILATION.
const compilationFailed = 6

// symbols returns the functions of NVRTC that the package calls, in the order of the table.
func symbols() []string { return library.Names(unsafe.Pointer(&C.quern_nvrtc_symbols)) }

// Compile finds NVRTC and compiles a program.
func Compile(p Program) (Compiled, error) {
	found, err := library.NVRTC.Open(0)
	if err != nil {
		return Compiled{}, err
	}
	return compileWith(found, p)
}

func compileWith(found *library.Handle, p Program) (done Compiled, err error) {
	functions, err := found.Table(symbols(), nil)
	if err != nil {
		return done, err
	}
	defer C.free(functions)
	t := (*C.table)(functions)
	failed := func(status C.int, call string) *library.CallError {
		return &library.CallError{Library: library.NVRTC, Call: call, Code: int(status), Status: C.GoString(C.quern_nvrtc_status(t, status))}
	}
	var texts []*C.char
	defer func() {
		for _, s := range texts {
			C.free(unsafe.Pointer(s))
		}
	}()
	text := func(s string) *C.char {
		texts = append(texts, C.CString(s))
		return texts[len(texts)-1]
	}
	var program C.handle
	var headerTexts, headerNames []*C.char
	for _, h := range standard {
		for _, name := range h.names {
			headerTexts, headerNames = append(headerTexts, text(h.text)), append(headerNames, text(name))
		}
	}
	status := C.quern_nvrtc_create(t, &program, text(p.Source), text(p.Name), C.int(len(headerNames)), array(headerTexts), array(headerNames))
	if status != 0 {
		return done, failed(status, "nvrtcCreateProgram")
	}
	defer C.quern_nvrtc_destroy(t, program)
	for _, name := range p.Names {
		if status := C.quern_nvrtc_name(t, program, text(name)); status != 0 {
			return done, failed(status, "nvrtcAddNameExpression")
		}
	}
	folders := headers(found.Path)
	options := make([]*C.char, 0, len(p.Options)+len(folders)+1)
	for _, option := range p.Options {
		options = append(options, text(option))
	}
	for _, folder := range folders {
		options = append(options, text("--include-path="+folder))
	}
	if status = C.quern_nvrtc_compile(t, program, C.int(len(options)), array(options)); status != 0 {
		var log *C.char
		C.quern_nvrtc_log(t, program, &log)
		texts = append(texts, log)
		words := C.GoString(log)
		if status == compilationFailed {
			return done, &CompileError{Log: words, Headers: len(folders) > 0}
		}
		failure := failed(status, "nvrtcCompileProgram")
		failure.Words = strings.TrimSpace(words)
		return done, failure
	}
	var ptx *C.char
	status = C.quern_nvrtc_ptx(t, program, &ptx)
	texts = append(texts, ptx)
	if status != 0 {
		return done, failed(status, "nvrtcGetPTX")
	}
	done.PTX = C.GoString(ptx)
	for _, name := range p.Names {
		var lowered *C.char
		if status := C.quern_nvrtc_lowered(t, program, text(name), &lowered); status != 0 {
			return done, failed(status, "nvrtcGetLoweredName")
		}
		done.Names = append(done.Names, C.GoString(lowered))
	}
	return done, nil
}

// array returns the address of strings in C memory.
func array(texts []*C.char) **C.char { return (**C.char)(unsafe.Pointer(unsafe.SliceData(texts))) }
