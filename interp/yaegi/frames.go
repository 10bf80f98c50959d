package yaegi

import (
	"bytes"
	"strconv"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
)

// panicFrames returns the frames of a stack on which a panic is being reported.
func panicFrames(text string) []Frame {
	i := strings.Index(text, "\npanic(")
	return framesOf(text[max(i, 0):])
}

// framesOf implements Frames.
func framesOf(text string) []Frame {
	var list []Frame
	compiled := ""
	addCompiled := func() {
		if compiled != "" {
			list = append(list, Frame{Function: compiled, Compiled: true})
			compiled = ""
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "goroutine "):
		case strings.HasPrefix(line, "created by "):
			return list
		case strings.HasPrefix(line, "..."):
			compiled = ""
			list = append(list, Frame{})
		case strings.HasPrefix(line, vm.Activation+"("):
			addCompiled()
			list = append(list, vmFrames(line[len(vm.Activation)+1:])...)
		case IsPlumbing(line):
		default:
			compiled = stack.VisibleName(line[:max(strings.LastIndexByte(line, '('), 0)])
		}
	}
	return list
}

// RunsCells reports whether text, a stack trace, has a function that runs code of cells.
func RunsCells(text []byte) bool { return bytes.Contains(text, []byte(vm.Activation+"(")) }

// pointer parses an argument that the runtime does not mark as stale.
func pointer(text string) (unsafe.Pointer, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || n == 0 {
		return nil, false
	}
	address := uintptr(n)
	return *(*unsafe.Pointer)(unsafe.Pointer(&address)), true
}

// vmFrames returns the functions of an activation of the VM.
func vmFrames(arguments string) (list []Frame) {
	first, _, _ := strings.Cut(arguments, ", ")
	if activation, ok := pointer(first); ok {
		for _, f := range vm.Active(activation) {
			list = append(list, Frame{Function: f.Name, At: f.Position})
		}
	}
	return list
}

// IsPlumbing reports whether a function on a stack is a helper between lowered code and the
// compiled code that it calls.
func IsPlumbing(function string) bool {
	for _, prefix := range []string{"runtime.", "reflect.", "internal/", "panic("} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return strings.Contains(function, stack.Interp)
}
