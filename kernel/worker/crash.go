package worker

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"
)

// crashFilter holds back what the Go runtime writes to stderr when it ends a process: the
// cell shows the first line as the reason of its error, and the rest would only bury it.
//
// A program may print such a line itself and continue. So the text is written to the
// notebook after all if the process has not ended within a while.
type crashFilter struct {
	emit func(cell int, text []byte)

	mu        sync.Mutex
	lineStart bool // the next byte is the first of a line
	holding   bool
	cell      int
	held      []byte // the first maxHeld bytes
	shown     []byte // what was held and then shown; nil once other output has followed
	timer     *time.Timer
	ended     bool
	tail      []byte // the last maxTail bytes that were not held back
}

// maxTail bounds the output in which the reason of a crash is looked for that was not held back, because it
// does not begin a line.
const maxTail = 4 << 10

// maxHeld bounds what is held back, in bytes.
const maxHeld = 256 << 10

const (
	// ambiguousHold is for text that programs may print themselves.
	ambiguousHold = time.Second
	// fatalHold is for text that only the runtime writes. It then prints the stacks, which
	// takes seconds if one of them has filled its gigabyte.
	fatalHold = 30 * time.Second
)

// crashPrefixes are the first words of a crash report. Each has the time to wait for the
// end of the process.
var crashPrefixes = []struct {
	text string
	hold time.Duration
}{
	{"panic: ", ambiguousHold},
	{"fatal error: ", fatalHold},
	{"runtime: goroutine stack exceeds ", fatalHold},
	{"runtime: out of memory", fatalHold},
	{"unexpected fault address ", fatalHold},
	{"SIGABRT: ", fatalHold}, {"SIGBUS: ", fatalHold}, {"SIGFPE: ", fatalHold}, {"SIGILL: ", fatalHold},
	{"SIGQUIT: ", fatalHold}, {"SIGSEGV: ", fatalHold}, {"SIGSYS: ", fatalHold}, {"SIGTRAP: ", fatalHold},
}

func newCrashFilter(emit func(cell int, text []byte)) *crashFilter {
	c := &crashFilter{emit: emit, lineStart: true}
	c.timer = time.AfterFunc(time.Hour, c.release)
	c.timer.Stop()
	return c
}

// filter takes output of a cell and returns the part to show now.
func (c *crashFilter) filter(cell int, text []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(text) == 0 {
		return nil
	}
	if c.holding {
		c.hold(text)
		return nil
	}
	c.shown = nil
	at, hold := c.find(text)
	if at == 1 && c.lineStart || at > 1 && text[at-2] == '\n' {
		at-- // the empty line before a report belongs to it
	}
	c.lineStart = text[len(text)-1] == '\n'
	if at < 0 {
		c.tail = append(c.tail, text[max(0, len(text)-maxTail):]...)
		c.tail = c.tail[max(0, len(c.tail)-maxTail):]
		return text
	}
	c.holding, c.cell = true, cell
	c.hold(text[at:])
	c.timer.Reset(hold)
	return text[:at]
}

// find returns where in text a crash report begins, and how long to hold it back. It
// returns -1 if there is none.
func (c *crashFilter) find(text []byte) (at int, hold time.Duration) {
	start, lineStart := 0, c.lineStart
	for {
		if lineStart {
			for _, words := range crashPrefixes {
				if bytes.HasPrefix(text[start:], []byte(words.text)) {
					return start, words.hold
				}
			}
		}
		n := bytes.IndexByte(text[start:], '\n')
		if n < 0 {
			return -1, 0
		}
		start, lineStart = start+n+1, true
	}
}

func (c *crashFilter) hold(text []byte) {
	c.held = append(c.held, text[:min(len(text), maxHeld-len(c.held))]...)
}

// release writes what is held back to the notebook.
func (c *crashFilter) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.holding || c.ended {
		return
	}
	c.timer.Stop()
	c.lineStart = c.held[len(c.held)-1] == '\n'
	c.emit(c.cell, c.held)
	c.holding, c.held, c.shown = false, nil, c.held
}

// end records that the process has ended: what is held back was a crash report.
func (c *crashFilter) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.ended = true
}

// reason returns the line of the crash report that says why, or "" if there is no report. how says how the
// process has ended.
func (c *crashFilter) reason(how string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	crashed := strings.HasPrefix(how, "exit status 2:")
	if c.holding && !crashed && strings.HasPrefix(how, "exit status ") { // the program has printed it
		c.emit(c.cell, c.held)
		return ""
	}
	report := c.held
	if !c.holding && crashed {
		report = c.shown // on a busy machine the process may have ended long after the report
	}
	if len(report) == 0 && crashed {
		return reasonIn(c.tail)
	}
	if len(report) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(report)), "\n")
	// The line "goroutine stack exceeds" is followed by the error itself. If the Go
	// runtime and the memory limit end the process at the same time, one of their lines
	// may be cut off.
	for _, line := range lines {
		for _, words := range []string{"fatal error: ", "panic: "} {
			if why, ok := strings.CutPrefix(line, words); ok && strings.TrimSpace(why) != "" {
				return strings.TrimSpace(line)
			}
		}
	}
	return strings.TrimSpace(lines[0])
}

// reasonIn returns the reason in the last lines of the output of a program that has crashed, which may have
// begun the line with something else.
func reasonIn(tail []byte) string {
	lines := strings.Split(strings.TrimSpace(string(tail)), "\n")
	for _, line := range slices.Backward(lines) {
		for _, words := range []string{"fatal error: ", "panic: "} {
			if _, why, ok := strings.Cut(line, words); ok && strings.TrimSpace(why) != "" {
				return words + strings.TrimSpace(why)
			}
		}
	}
	return ""
}
