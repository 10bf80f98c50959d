package progress

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/quernlab/quern/display"
)

// minInterval is the shortest time between two updates of a bar: front ends drop output that
// changes too often.
const minInterval = 100 * time.Millisecond

// Bar is a progress bar. Its methods may be called from any goroutine.
type Bar struct {
	total   int
	now     func() time.Time
	started time.Time

	mu     sync.Mutex
	done   int
	label  string
	handle *display.Handle
	shown  time.Time // time of the last update
	ended  bool
}

// NewBar displays a bar for a number of steps; 0 means unknown.
func NewBar(total int, label string) *Bar { return newBar(total, label, time.Now) }

func newBar(total int, label string, now func() time.Time) *Bar {
	b := &Bar{total: max(total, 0), now: now, started: now(), label: label}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show()
	return b
}

// Add records that n more steps are done.
func (b *Bar) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	if !b.ended && b.now().Sub(b.shown) >= minInterval {
		b.show()
	}
}

// SetLabel changes the text before the bar.
func (b *Bar) SetLabel(label string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.label = label
	if b.now().Sub(b.shown) >= minInterval {
		b.show()
	}
}

// End displays the final state. It may be called more than once.
func (b *Bar) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended = true
		b.show()
	}
}

// show displays the current state. The lock is held.
func (b *Bar) show() {
	b.shown = b.now()
	if b.handle == nil {
		b.handle = display.Show(progressOf(b))
	} else {
		b.handle.Update(progressOf(b))
	}
}

// progressOf returns the progress of a bar whose lock is held.
func progressOf(b *Bar) display.Progress {
	p := display.Progress{Label: b.label, Done: float64(b.done), Total: float64(b.total), Passed: b.shown.Sub(b.started), Ended: b.ended}
	if seconds := p.Passed.Seconds(); seconds > 0 && b.done > 0 {
		p.Note = fmt.Sprintf("%.3g/s", float64(b.done)/seconds)
	}
	return p
}

// Range iterates over the numbers from 0 to n-1 and displays a bar.
func Range(n int) iter.Seq[int] {
	return measured(n, func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	})
}

// Each iterates over the elements of a list and displays a bar.
func Each[S ~[]E, E any](list S) iter.Seq[E] { return measured(len(list), slices.Values(list)) }

// Seq iterates over a sequence and displays how many values there were.
func Seq[E any](values iter.Seq[E]) iter.Seq[E] { return measured(0, values) }

// measured iterates over a sequence of total values and displays a bar.
func measured[E any](total int, values iter.Seq[E]) iter.Seq[E] {
	return func(yield func(E) bool) {
		bar := NewBar(total, "")
		defer bar.End()
		for x := range values {
			if !yield(x) {
				return
			}
			bar.Add(1)
		}
	}
}
