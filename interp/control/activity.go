package control

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
)

// An Activity is what a goroutine of a cell is doing.
type Activity struct {
	function string // full name of the compiled function that lowered code called
	ends     bool   // it will end on its own: it runs lowered code or deferred calls, or waits for a child process
	callback string // the rest of the stack, if a package of Quern has called the function of the cell
	calls    bool   // a function of Quern's packages is about to return to its run
	waits    bool   // the goroutine is blocked: it does not need CPU time to continue
}

// activityIn returns what the cell's own goroutine is doing, given the stacks of all.
func activityIn(stacks []byte, m *goroutine.Member) Activity {
	head := fmt.Appendf(nil, "goroutine %d [", m.Goroutine)
	ending := m.IsEnding(m.Goroutine) // asked after the stacks were taken
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.HasPrefix(text, head) {
			a := activityOf(string(text))
			if ending {
				a = Activity{ends: true, callback: a.callback}
			}
			a.calls = m.IsCalling()
			a.waits = stack.IsWaiting(string(text))
			return a
		}
	}
	return Activity{}
}

// activityOf finds the function that lowered code called: the last one of a stack before
// the functions that run lowered code, package reflect that called it, and our wrappers.
func activityOf(text string) (a Activity) {
	rest := text
	for line := range strings.Lines(text) {
		rest = rest[len(line):]
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") {
			continue
		}
		if i := strings.LastIndexByte(line, '('); i >= 0 {
			line = line[:i]
		}
		switch {
		case strings.HasPrefix(line, vm.Functions):
			a.ends = a.function == "" || strings.HasPrefix(a.function, "os/exec.") || strings.Contains(a.function, magic)
			a.callback = callerIn(rest)
			return a
		case strings.HasPrefix(line, "runtime."), strings.HasPrefix(line, "internal/"), strings.HasPrefix(line, "reflect."):
		case a.function != "" && isWrapper(line):
		default:
			a.function = line
		}
	}
	return Activity{}
}

// callerIn returns the part of a stack that begins with a function of a package of Quern; "" if
// there is none.
func callerIn(text string) string {
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		if isOwn(line) {
			return text[at:]
		}
		at += len(line) + 1
	}
	return ""
}

// isOwn reports whether compiled code of a package of Quern runs.
func (a Activity) isOwn() bool { return !a.ends && isOwn(a.function) }

// magic is part of the names of functions that wait for child processes too.
const magic = stack.Interp + "/magic."

// isWrapper reports whether a function is one that cells call instead of a compiled
// function, which it calls.
func isWrapper(function string) bool {
	_, name, ok := strings.Cut(function, stack.Interp)
	if !ok {
		return false
	}
	for _, p := range []string{".", "/control.", "/library.", "/registration.", "/stream."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
