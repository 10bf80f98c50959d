package control

import (
	"context"
	"sync"
	"time"
)

// insist is the time after the first interrupt from which another interrupt makes the session
// stop waiting for the cell. Two interrupts within this time count as one.
const insist = time.Second

// An Interruption receives the interrupts of one cell.
type Interruption struct {
	cancel context.CancelFunc
	again  chan struct{}

	mu     sync.Mutex
	first  time.Time
	closed bool
}

// NewInterruption returns an Interruption whose first interrupt calls cancel.
func NewInterruption(cancel context.CancelFunc) *Interruption {
	return &Interruption{cancel: cancel, again: make(chan struct{})}
}

// Call interrupts the cell.
func (i *Interruption) Call(now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.first.IsZero():
		i.first = now
		i.cancel()
	case now.Sub(i.first) >= insist && !i.closed:
		i.closed = true
		close(i.again)
	}
}

// Again returns a channel that is closed by an interrupt after which the session shall not
// wait for the cell any longer.
func (i *Interruption) Again() <-chan struct{} { return i.again }
