package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// profiledContext adds to a profile the calls in which the host waits for the device.
// Reads of results add themselves.
type profiledContext struct {
	driver.Context
	reads driver.Stream
}

// waiting begins such a call; the function that it returns ends it.
func (w *profiledContext) waiting() (end func()) {
	c := trace.Profile()
	if c == nil {
		return func() {}
	}
	begin := c.Now()
	return func() { c.Event(trace.Synchronizing, "", begin, 0) }
}

// SyncStream waits for a stream.
func (w *profiledContext) SyncStream(s driver.Stream) error {
	if s != w.reads {
		defer w.waiting()()
	}
	return w.Context.SyncStream(s)
}

// Sync waits for all streams.
func (w *profiledContext) Sync() error {
	defer w.waiting()()
	return w.Context.Sync()
}

// SyncEvent waits for an event.
func (w *profiledContext) SyncEvent(e driver.Event) error {
	defer w.waiting()()
	return w.Context.SyncEvent(e)
}
