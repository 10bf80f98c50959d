package worker

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// crash keeps back what the Go runtime writes to stderr when it ends a process:
// the cell shows its first line as the reason of the error, and nobody wants to
// read the rest.
//
// A program may write such a line itself and go on. So what is kept back is
// given out after a moment, unless the process has ended by then.
type crash struct {
	give func(cell int, text []byte)

	mu        sync.Mutex
	lineStart bool // the next byte starts a line
	holding   bool
	cell      int
	held      []byte // at most maxHeld bytes, the first ones
	timer     *time.Timer
	ended     bool
}

const (
	// holdFor is longer than a process takes from its first dying word to its
	// end, if it does not dump gigabytes.
	holdFor = time.Second
	maxHeld = 256 << 10
)

// lastWords begin the report of a crash.
var lastWords = []string{
	"fatal error: ",
	"panic: ",
	"runtime: goroutine stack exceeds ",
	"runtime: out of memory",
	"unexpected fault address ",
	"SIGABRT: ", "SIGBUS: ", "SIGFPE: ", "SIGILL: ", "SIGQUIT: ", "SIGSEGV: ", "SIGSYS: ", "SIGTRAP: ",
}

func newCrash(give func(cell int, text []byte)) *crash {
	c := &crash{give: give, lineStart: true}
	c.timer = time.AfterFunc(time.Hour, c.release)
	c.timer.Stop()
	return c
}

// filter takes output of a cell and returns the part to show now.
func (c *crash) filter(cell int, text []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(text) == 0 {
		return nil
	}
	if c.holding {
		c.hold(text)
		return nil
	}
	at := c.find(text)
	c.lineStart = text[len(text)-1] == '\n'
	if at < 0 {
		return text
	}
	c.holding, c.cell = true, cell
	c.hold(text[at:])
	c.timer.Reset(holdFor)
	return text[:at]
}

// find returns where in text a report of a crash begins, or -1.
func (c *crash) find(text []byte) int {
	start, lineStart := 0, c.lineStart
	for {
		if lineStart {
			for _, words := range lastWords {
				if bytes.HasPrefix(text[start:], []byte(words)) {
					return start
				}
			}
		}
		n := bytes.IndexByte(text[start:], '\n')
		if n < 0 {
			return -1
		}
		start, lineStart = start+n+1, true
	}
}

func (c *crash) hold(text []byte) {
	c.held = append(c.held, text[:min(len(text), maxHeld-len(c.held))]...)
}

// release gives out what is kept back.
func (c *crash) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.holding || c.ended {
		return
	}
	c.timer.Stop()
	c.lineStart = c.held[len(c.held)-1] == '\n'
	c.give(c.cell, c.held)
	c.holding, c.held = false, nil
}

// end tells that the process has ended: nothing is given out any more.
func (c *crash) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.ended = true
}

// reason is the line of the report that says why, or empty without a report.
func (c *crash) reason() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(c.held)), "\n")
	if !c.holding {
		return ""
	}
	// After "goroutine stack exceeds" comes the fatal error itself.
	for _, line := range lines {
		if strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "panic: ") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(lines[0])
}
