package kernel

import (
	"sync/atomic"
	"time"
)

// "Run All" sends its cells one by one without waiting for replies. When the first
// cell fails within a millisecond, the others are still on their way, and no message
// reports whether more are coming. So the reply to a failed cell is held back while cells
// keep arriving: those that arrive before the reply were sent without it, and are
// aborted.
const (
	settlePeriod = 10 * time.Millisecond  // no more cells are coming if none arrived for so long
	maxSettle    = 250 * time.Millisecond // a reply is never held back longer
)

// arrivals records when the newest execute_request arrived.
type arrivals struct {
	newest atomic.Pointer[time.Time]
}

func (a *arrivals) record(received time.Time) { a.newest.Store(&received) }

// settle returns once no cell has arrived for settlePeriod: at once, if the newest one
// arrived long ago. It gives up after maxSettle, or when done is closed.
func (a *arrivals) settle(done <-chan struct{}) {
	deadline := time.Now().Add(maxSettle)
	for {
		newest := a.newest.Load()
		if newest == nil {
			return
		}
		wait := min(time.Until(newest.Add(settlePeriod)), time.Until(deadline))
		if wait <= 0 {
			return
		}
		select {
		case <-time.After(wait):
		case <-done:
			return
		}
	}
}

// abortPoint is when the reply to a failed or aborted cell was sent. Cells that arrived
// before it are aborted, because their client could not know of the failure when it sent
// them.
type abortPoint struct {
	replied time.Time // just before the reply is sent
}

// aborts reports whether a request must be aborted. It only compares times of arrival:
// the date in a message comes from a clock that may be wrong.
func (s *abortPoint) aborts(r *request) bool {
	return s != nil && r.received.Before(s.replied)
}
