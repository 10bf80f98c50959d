package progress

import (
	"fmt"
	"sync"
	"time"

	"github.com/quernlab/quern/display"
)

// between is the least time between two pictures of a bar: front ends cut off
// what changes too often.
const between = 100 * time.Millisecond

// Bar is one bar. Its methods may be called from any goroutine.
type Bar struct {
	total int
	now   func() time.Time
	begun time.Time

	mu     sync.Mutex
	done   int
	label  string
	handle *display.Handle
	shown  time.Time // when it was shown last
	ended  bool
}

// NewBar shows a bar for a number of steps; 0 is an unknown number.
func NewBar(total int, label string) *Bar { return newBar(total, label, time.Now) }

func newBar(total int, label string, now func() time.Time) *Bar {
	b := &Bar{total: max(total, 0), now: now, begun: now(), label: label}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show()
	return b
}

// Add tells that n more steps are done.
func (b *Bar) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	if !b.ended && b.now().Sub(b.shown) >= between {
		b.show()
	}
}

// SetLabel changes the text before the bar.
func (b *Bar) SetLabel(label string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.label = label
	if b.now().Sub(b.shown) >= between {
		b.show()
	}
}

// End shows the last state. Ending a bar twice is fine.
func (b *Bar) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended = true
		b.show()
	}
}

// show shows the bar as it is. The lock is held.
func (b *Bar) show() {
	b.shown = b.now()
	if b.handle == nil {
		b.handle = display.Show(picture(b))
	} else {
		b.handle.Update(picture(b))
	}
}

// picture is the progress of a bar whose lock is held.
func picture(b *Bar) display.Progress {
	p := display.Progress{Label: b.label, Done: float64(b.done), Total: float64(b.total), Passed: b.shown.Sub(b.begun), Ended: b.ended}
	if seconds := p.Passed.Seconds(); seconds > 0 && b.done > 0 {
		p.Note = fmt.Sprintf("%.3g/s", float64(b.done)/seconds)
	}
	return p
}
