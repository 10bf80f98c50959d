package interp

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/yaegi"
)

// Compiled code that does not return.
//
// Nothing can end a goroutine from outside. Where an interrupted cell is in
// compiled code that does not return, the session goes on without it: the
// goroutine is abandoned, other cells run beside it, and should it come back to
// code of its cell, the next check there ends it. It also goes on without deferred
// calls that take long. Children are awaited: they are killed after childGrace.

// abandon gives a goroutine of a cell up and returns the error of the cell.
func (s *Session) abandon(a activity, ended <-chan outcome) *Error {
	s.raise()
	go func() {
		<-ended
		s.lower()
	}()
	if a.ends {
		return diagnostics.NewInterrupted(nil)
	}
	what := stack.VisibleName(a.function)
	if what == "" {
		what = "compiled code that it called"
	}
	e := diagnostics.New(diagnostics.Interrupted, fmt.Sprintf("the cell was interrupted, but %s cannot be stopped "+
		"and goes on in the background; restart the kernel to end it", what), nil)
	e.Stuck = true
	return e
}

// An activity is what a goroutine of a cell does.
type activity struct {
	function string // the full name of what lowered code called
	ends     bool   // it ends by itself: it is in lowered code, in deferred calls, or waits for a child
	waits    bool   // the goroutine is blocked: it does not need CPU time to go on
}

// activity tells what the goroutine of a cell does.
func (s *Session) activity(m *goroutine.Member) activity {
	head := fmt.Appendf(nil, "goroutine %d [", m.Goroutine)
	stacks := stack.All()
	ending := m.IsEnding(m.Goroutine) // by now
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.HasPrefix(text, head) {
			a := activityOf(string(text))
			if ending {
				a = activity{ends: true}
			}
			a.waits = stack.IsWaiting(string(text))
			return a
		}
	}
	return activity{}
}

// activityOf finds the last function of a stack before those that run lowered code
// and of reflect that called it.
func activityOf(text string) (a activity) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") {
			continue
		}
		if i := strings.LastIndexByte(line, '('); i >= 0 {
			line = line[:i]
		}
		switch {
		case strings.HasPrefix(line, yaegi.Functions), strings.Contains(line, machineFunctions):
			a.ends = a.function == "" || strings.HasPrefix(a.function, "os/exec.") || strings.Contains(a.function, commandFunctions)
			return a
		case strings.HasPrefix(line, "runtime."), strings.HasPrefix(line, "internal/"), strings.HasPrefix(line, "reflect."):
		case a.function != "" && strings.Contains(line, sessionMethods): // passes a call on
		default:
			a.function = line
		}
	}
	return activity{}
}

// machineFunctions is part of the names of the functions of package machine.
const machineFunctions = stack.Interp + "/machine."

// commandFunctions is part of the names of the functions of package magic, which
// wait for children too.
const commandFunctions = stack.Interp + "/magic."

// sessionMethods is part of the names of the methods of a Session.
const sessionMethods = stack.Interp + ".(*Session)."
