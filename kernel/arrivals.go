package kernel

import (
	"sync/atomic"
	"time"
)

// "Run All" sends its cells one by one without waiting for replies. When the first
// cell fails within a millisecond, the others are still on their way, and no message
// reports whether more are coming. Cells that were sent before the reply to the failed
// cell are aborted: those that arrived before it, and those whose dates say so.
//
// A slow client may send the other cells a few milliseconds after the failure. So once a client has
// queued a cell behind another one, the reply to a failed cell is held back while cells keep arriving.
const (
	settlePeriod = 50 * time.Millisecond  // no more cells are coming if none arrived for so long
	maxSettle    = 250 * time.Millisecond // a reply is never held back longer
	// maxTransit is how long a cell may take to arrive for its date to count. A client whose clock is
	// set back within some seconds may have a cell aborted that it sent with knowledge of the failure.
	maxTransit = time.Second
)

// arrivals records when the newest execute_request arrived, and whether a client has ever sent one
// before it had the reply to the one before.
type arrivals struct {
	newest     atomic.Pointer[time.Time]
	unanswered atomic.Int64
	queued     atomic.Bool
}

func (a *arrivals) record(received time.Time) {
	a.newest.Store(&received)
	if a.unanswered.Add(1) > 1 {
		a.queued.Store(true)
	}
}

// answered is called when a recorded request has been answered.
func (a *arrivals) answered() { a.unanswered.Add(-1) }

// settle returns at once if no client has ever queued cells, and otherwise once no cell has arrived
// for settlePeriod: at once, if the newest one arrived long ago. It gives up after maxSettle, or when
// done is closed.
func (a *arrivals) settle(done <-chan struct{}) {
	deadline := time.Now().Add(maxSettle)
	for a.queued.Load() {
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

// abortPoint is when the reply to a failed or aborted cell was sent. Cells that were sent
// before it are aborted, because their client could not know of the failure.
type abortPoint struct {
	request *request  // that was answered
	replied time.Time // just before the reply is sent
}

// aborts reports whether a request must be aborted: whether it arrived before the reply, or was sent
// before it.
func (s *abortPoint) aborts(r *request) bool {
	return s != nil && (r.received.Before(s.replied) || s.dated(r))
}

// dated reports whether the dates of the messages prove that a request which arrived after the reply was
// sent before it. The clock of the client may be wrong, so only the time that it measured between requests
// counts. The answered one was sent before it arrived, so if the other was sent less than replied - received
// after that, it was sent before the reply. The same is true for each other request of the client in the last
// seconds; one that was in transit for a shorter time proves more, see clientClock.
func (s *abortPoint) dated(r *request) bool {
	if r.Header.Session != s.request.Header.Session || r.received.Sub(s.replied) > maxTransit {
		return false
	}
	first, _, ok := parseDate(s.request.Header.Date)
	next, unit, known := parseDate(r.Header.Date)
	if !ok || !known || !next.After(first) { // a client may always send the same date
		return false
	}
	if next.Add(unit).Sub(first) < s.replied.Sub(s.request.received) {
		return true
	}
	latest, known := r.clock.latest(next)
	return known && latest.Before(s.replied)
}
