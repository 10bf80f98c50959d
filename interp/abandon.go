package interp

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// Compiled code that does not return.
//
// Nothing can end a goroutine from outside. Where an interrupted cell is in
// compiled code that does not return, the session goes on without it: the
// goroutine is abandoned, other cells run beside it, and should it come back to
// code of its cell, the next check there ends it.

// abandon gives a goroutine of a cell up and returns the error of the cell.
func (s *Session) abandon(m *member, ended <-chan outcome) *Error {
	what := visibleName(s.activity(m).function)
	s.flag.Lock()
	s.abandoned++
	s.flag.Unlock()
	go func() {
		<-ended
		s.flag.Lock()
		defer s.flag.Unlock()
		s.abandoned--
		s.raiseFlag()
	}()
	if what == "" {
		what = "compiled code that it called"
	}
	e := newError(nameInterrupted, fmt.Sprintf("the cell was interrupted, but %s cannot be stopped "+
		"and goes on in the background; restart the kernel to end it", what), s.frames(nil))
	e.Stuck = true
	return e
}

// An activity is what a goroutine of a cell does.
type activity struct {
	compiled bool   // it is in a function that lowered code called
	function string // its full name
}

// patience is how long to wait for the end of an interrupted activity.
func patience(a activity) time.Duration {
	path := a.function[:strings.LastIndexByte(a.function, '/')+1]
	standard := !strings.Contains(path, ".") || strings.Contains(a.function, ownCode)
	if a.compiled && standard && !strings.HasPrefix(a.function, "os/exec.") {
		return giveUpAfter
	}
	return giveUpWatching
}

// ownCode is part of the names of all functions of the interpreter, some of which
// stand for those of the standard library.
const ownCode = "quern/interp"

// maxStacks bounds the stacks of all goroutines.
const maxStacks = 4 << 20

// activity tells what a goroutine does.
func (s *Session) activity(m *member) activity {
	head := fmt.Appendf(nil, "goroutine %d [", m.goroutine)
	stacks := make([]byte, 64<<10)
	for {
		n := runtime.Stack(stacks, true)
		if n < len(stacks) || len(stacks) >= maxStacks {
			stacks = stacks[:n]
			break
		}
		stacks = make([]byte, 4*len(stacks))
	}
	for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.HasPrefix(stack, head) {
			return activityOf(string(stack))
		}
	}
	return activity{}
}

// activityOf finds the last function of a stack before those of the engine and
// of reflect that called it.
func activityOf(stack string) activity {
	function := ""
	for line := range strings.Lines(stack) {
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") {
			continue
		}
		if i := strings.LastIndexByte(line, '('); i >= 0 {
			line = line[:i]
		}
		switch {
		case strings.HasPrefix(line, engineFunctions):
			waits := function == "" && channelWait.MatchString(line[len(engineFunctions):])
			return activity{compiled: !waits, function: function}
		case strings.HasPrefix(line, "runtime."), strings.HasPrefix(line, "internal/"), strings.HasPrefix(line, "reflect."):
		case strings.Contains(line, contextPasser):
		default:
			function = line
		}
	}
	return activity{}
}

// visibleName is the name of a function of compiled code as its user knows it,
// "" for one that stands in for another.
func visibleName(function string) string {
	if strings.Contains(function, ownCode) {
		return ""
	}
	name := function[strings.LastIndexByte(function, '/')+1:]
	name, _, _ = strings.Cut(name, "[")
	return anonymous.ReplaceAllString(name, "")
}

// anonymous is what the compiler puts behind the names of function literals.
var anonymous = regexp.MustCompile(`(\.func\d+(\.\d+)*|-fm)+$`)
