package cuda

import "github.com/quernlab/quern/accel/internal/cuda/driver"

// marks are events behind the work of the stream, numbered from 1.
type marks struct {
	ctx    driver.Context
	events [32]driver.Event
	last   uint64
}

func newMarks(ctx driver.Context) (*marks, error) {
	m := &marks{ctx: ctx}
	for i := range m.events {
		e, err := ctx.NewEvent(false)
		if err != nil {
			return nil, err
		}
		m.events[i] = e
	}
	return m, nil
}

// record marks the end of the stream's present work.
func (m *marks) record(s driver.Stream) (uint64, error) {
	if err := m.ctx.Record(m.events[(m.last+1)%uint64(len(m.events))], s); err != nil {
		return 0, err
	}
	m.last++
	return m.last, nil
}

// event is that of a mark, or of the oldest later one that there still is.
func (m *marks) event(n uint64) driver.Event {
	if oldest := m.last + 1 - min(m.last, uint64(len(m.events))); n < oldest {
		n = oldest
	}
	return m.events[n%uint64(len(m.events))]
}

// wait makes later work of a stream wait for a mark; 0 is none.
func (m *marks) wait(s driver.Stream, n uint64) error {
	if n == 0 {
		return nil
	}
	return m.ctx.Wait(s, m.event(n))
}
