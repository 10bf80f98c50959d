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

// maxHeld bounds what is kept back.
const maxHeld = 256 << 10

const (
	// spoken is for words that a program may well print itself and go on.
	spoken = time.Second
	// fatal is for words that only the runtime says. It then walks the stacks,
	// which takes it seconds when one of them has filled its gigabyte.
	fatal = 30 * time.Second
)

// lastWords begin the report of a crash, each with the time to wait for the end
// of the process.
var lastWords = []struct {
	text string
	hold time.Duration
}{
	{"panic: ", spoken},
	{"fatal error: ", fatal},
	{"runtime: goroutine stack exceeds ", fatal},
	{"runtime: out of memory", fatal},
	{"unexpected fault address ", fatal},
	{"SIGABRT: ", fatal}, {"SIGBUS: ", fatal}, {"SIGFPE: ", fatal}, {"SIGILL: ", fatal},
	{"SIGQUIT: ", fatal}, {"SIGSEGV: ", fatal}, {"SIGSYS: ", fatal}, {"SIGTRAP: ", fatal},
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
	at, hold := c.find(text)
	c.lineStart = text[len(text)-1] == '\n'
	if at < 0 {
		return text
	}
	c.holding, c.cell = true, cell
	c.hold(text[at:])
	c.timer.Reset(hold)
	return text[:at]
}

// find returns where in text a report of a crash begins, or -1, and how long it
// is to be kept back.
func (c *crash) find(text []byte) (at int, hold time.Duration) {
	start, lineStart := 0, c.lineStart
	for {
		if lineStart {
			for _, words := range lastWords {
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
	// After "goroutine stack exceeds" comes the fatal error itself. Where the runtime and
	// the limit of memory end the process at once, the line of one of them is cut.
	for _, line := range lines {
		for _, words := range []string{"fatal error: ", "panic: "} {
			if why, ok := strings.CutPrefix(line, words); ok && strings.TrimSpace(why) != "" {
				return strings.TrimSpace(line)
			}
		}
	}
	return strings.TrimSpace(lines[0])
}
