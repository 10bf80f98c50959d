package yaegi

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
)

// A Panic is a panic of the body of a cell.
type Panic struct {
	Value  any
	Frames []Frame // where it began
}

func (e *Panic) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Run calls f, the body of a cell. It sets failed to a *Panic if f panics, and does not return it: if f calls runtime.Goexit and then
// panics in a deferred call, the goroutine ends.
func Run(f func(), failed *error) {
	defer func() {
		if r := recover(); r != nil {
			*failed = &Panic{rt.Recovered(r), PanicFrames()}
		}
	}()
	f()
}

// A Frame is an active function.
type Frame struct {
	Function string // the name in lowered code, or the compiler's name; "" for unknown frames
	Compiled bool
	At       int // the position that the function last stored; 0 if it has stored none
}

// PanicFrames returns the functions that were active where the panic began that the calling goroutine has recovered or is raising, innermost
// first. A deferred function must call it.
func PanicFrames() []Frame {
	text := stack.Own()
	return Frames(text[max(strings.Index(text, "\npanic("), 0):])
}

// Frames returns the active functions of the stack of a goroutine, as the runtime prints it, innermost first: those of cells, and between
// them one compiled function for each call into compiled code. The goroutine must not run meanwhile.
func Frames(text string) []Frame {
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
