package yaegi

import (
	"strings"

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
		case strings.HasPrefix(line, activationLine):
			addCompiled()
			if f, ok := activationFrame(line[len(activationLine):]); ok {
				list = append(list, f)
			}
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

// RunsLoweredCode reports whether text, a stack trace, has a function that runs
// lowered code.
func RunsLoweredCode(text []byte) bool {
	return strings.Contains(string(text), activationLine) || strings.Contains(string(text), vm.Activation+"(")
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
	for _, prefix := range []string{Functions, "runtime.", "reflect.", "internal/", "panic("} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return strings.Contains(function, stack.Interp)
}
