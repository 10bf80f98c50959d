package cuda

import (
	"errors"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// timeline numbers points in a stream from 1: each has an event after the work before it.
// Only the newest points keep an event of their own.
type timeline struct {
	ctx    driver.Context
	events [32]driver.Event
	last   uint64
}

func newTimeline(ctx driver.Context) (*timeline, error) {
	m := &timeline{ctx: ctx}
	for i := range m.events {
		e, err := ctx.NewEvent(false)
		if err != nil {
			return nil, err
		}
		m.events[i] = e
	}
	return m, nil
}

// record adds a point after the work in the stream, and returns its number.
func (m *timeline) record(s driver.Stream) (uint64, error) {
	if err := m.ctx.Record(m.events[(m.last+1)%uint64(len(m.events))], s); err != nil {
		return 0, err
	}
	m.last++
	return m.last, nil
}

// event returns the event of a point, or of the oldest later point that has one.
func (m *timeline) event(n uint64) driver.Event {
	if oldest := m.last + 1 - min(m.last, uint64(len(m.events))); n < oldest {
		n = oldest
	}
	return m.events[n%uint64(len(m.events))]
}

// wait makes later work of a stream wait for a point; 0 is none.
func (m *timeline) wait(s driver.Stream, n uint64) error {
	if n == 0 {
		return nil
	}
	return m.ctx.Wait(s, m.event(n))
}

// close closes the events.
func (m *timeline) close() (err error) {
	for _, e := range m.events {
		err = errors.Join(err, m.ctx.CloseEvent(e))
	}
	return err
}
