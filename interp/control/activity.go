package control

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/yaegi"
)

// An Activity is what a goroutine of a cell is doing.
type Activity struct {
	function string // full name of the compiled function that lowered code called
	ends     bool   // it will end on its own: it runs lowered code or deferred calls, or waits for a child process
	waits    bool   // the goroutine is blocked: it does not need CPU time to continue
}

// activityNow returns what the cell's own goroutine is doing.
func activityNow(m *goroutine.Member) Activity {
	head := fmt.Appendf(nil, "goroutine %d [", m.Goroutine)
	stacks := stack.All()
	ending := m.IsEnding(m.Goroutine) // asked after the stacks were taken
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.HasPrefix(text, head) {
			a := activityOf(string(text))
			if ending {
				a = Activity{ends: true}
			}
			a.waits = stack.IsWaiting(string(text))
			return a
		}
	}
	return Activity{}
}

// activityOf finds the function that lowered code called: the last one of a stack before
// the functions that run lowered code, package reflect that called it, and our wrappers.
func activityOf(text string) (a Activity) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") {
			continue
		}
		if i := strings.LastIndexByte(line, '('); i >= 0 {
			line = line[:i]
		}
		switch {
		case strings.HasPrefix(line, yaegi.Functions), strings.HasPrefix(line, vm.Functions):
			a.ends = a.function == "" || strings.HasPrefix(a.function, "os/exec.") || strings.Contains(a.function, magic)
			return a
		case strings.HasPrefix(line, "runtime."), strings.HasPrefix(line, "internal/"), strings.HasPrefix(line, "reflect."):
		case a.function != "" && isWrapper(line):
		default:
			a.function = line
		}
	}
	return Activity{}
}

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
