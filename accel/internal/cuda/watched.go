package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/trace"
)

// watched tells a profile of the calls in which the host waits for the device. Reads
// of results tell of themselves.
type watched struct {
	driver.Context
	reads driver.Stream
}

// waiting begins such a call; what is returned ends it.
func (w *watched) waiting() (end func()) {
	c := trace.Profile()
	if c == nil {
		return func() {}
	}
	begin := c.Now()
	return func() { c.Event(trace.Synchronising, "", begin, 0) }
}

// SyncStream waits for a stream.
func (w *watched) SyncStream(s driver.Stream) error {
	if s != w.reads {
		defer w.waiting()()
	}
	return w.Context.SyncStream(s)
}

// Sync waits for all streams.
func (w *watched) Sync() error {
	defer w.waiting()()
	return w.Context.Sync()
}

// SyncEvent waits for an event.
func (w *watched) SyncEvent(e driver.Event) error {
	defer w.waiting()()
	return w.Context.SyncEvent(e)
}
