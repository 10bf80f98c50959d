package fake

import (
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// event refers to the command that recorded it in a stream.
type event struct {
	timed bool
	mark  *command      // nil before it is recorded
	when  time.Duration // since the context was created
}

func (c *context) NewStream() (driver.Stream, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.begin("NewStream"); err != nil {
		return 0, err
	}
	s := driver.Stream(c.next())
	c.streams[s] = &stream{}
	return s, nil
}

// CloseStream lets queued work continue.
func (c *context) CloseStream(s driver.Stream) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, err := c.open("CloseStream", s); err != nil {
		return err
	}
	if s == 0 {
		return c.fail("CloseStream", driver.InvalidHandle, "the default stream cannot be closed")
	}
	delete(c.streams, s)
	return nil
}

func (c *context) SyncStream(s driver.Stream) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	q, err := c.open("SyncStream", s)
	if err != nil {
		return err
	}
	c.counts.Syncs++
	if q.last != nil {
		c.drain(q.last)
	}
	c.wait(c.clock)
	return c.end()
}

func (c *context) Sync() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.begin("Sync"); err != nil {
		return err
	}
	c.counts.Syncs++
	c.drain(nil)
	c.wait(c.clock)
	return c.end()
}

func (c *context) NewEvent(timed bool) (driver.Event, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.begin("NewEvent"); err != nil {
		return 0, err
	}
	e := driver.Event(c.next())
	c.events[e] = &event{timed: timed}
	return e, nil
}

// event returns an event by its handle.
func (c *context) event(call string, e driver.Event) (*event, error) {
	if err := c.begin(call); err != nil {
		return nil, err
	}
	if found := c.events[e]; found != nil {
		return found, nil
	}
	return nil, c.fail(call, driver.InvalidHandle, "no event has the handle %d", e)
}

func (c *context) CloseEvent(e driver.Event) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	_, err := c.event("CloseEvent", e)
	delete(c.events, e)
	return err
}

func (c *context) Record(e driver.Event, s driver.Stream) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	ev, err := c.event("Record", e)
	if err != nil {
		return err
	}
	q, err := c.stream("Record", s)
	if err != nil {
		return err
	}
	c.push(q, c.marking(ev, "Record"))
	return nil
}

// marking returns a command that records an event.
func (c *context) marking(ev *event, call string) *command {
	mark := &command{call: call}
	mark.run = func() error {
		if ev.mark == mark {
			ev.when = c.now(mark)
		}
		return nil
	}
	ev.mark = mark
	return mark
}

// wait sleeps until the simulated time of finished work has passed.
func (c *context) wait(until time.Duration) {
	if c.driver.options.KernelTime != nil && !c.driver.options.Instant {
		time.Sleep(until - time.Since(c.began))
	}
}

// queuedAt returns the time at which the host queued a command.
func (c *context) queuedAt(cmd *command) time.Duration {
	if c.driver.options.Instant {
		return 0
	}
	return cmd.asked
}

// now returns the time at which a command runs.
func (c *context) now(cmd *command) time.Duration {
	if c.driver.options.KernelTime == nil {
		return time.Since(c.began)
	}
	return max(c.clock, c.queuedAt(cmd))
}

// Wait does nothing for an event that was never recorded, as in CUDA.
func (c *context) Wait(s driver.Stream, e driver.Event) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	ev, err := c.event("Wait", e)
	if err != nil {
		return err
	}
	q, err := c.stream("Wait", s)
	if err != nil {
		return err
	}
	if ev.mark != nil {
		c.push(q, &command{call: "Wait", after: []*command{ev.mark}})
	}
	return nil
}

func (c *context) Done(e driver.Event) (bool, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	ev, err := c.event("Done", e)
	if err != nil {
		return false, err
	}
	if ev.mark == nil || ev.mark.done {
		return c.driver.options.KernelTime == nil || c.driver.options.Instant || ev.when <= time.Since(c.began), c.end()
	}
	c.one() // each query lets one command run
	return ev.mark.done, c.end()
}

func (c *context) SyncEvent(e driver.Event) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	ev, err := c.event("SyncEvent", e)
	if err != nil {
		return err
	}
	c.counts.Syncs++
	if ev.mark != nil {
		c.drain(ev.mark)
	}
	c.wait(ev.when)
	return c.end()
}

func (c *context) Elapsed(from, to driver.Event) (float64, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	a, err := c.event("Elapsed", from)
	if err != nil {
		return 0, err
	}
	b, err := c.event("Elapsed", to)
	if err != nil {
		return 0, err
	}
	switch {
	case !a.timed || !b.timed || a.mark == nil || b.mark == nil:
		return 0, c.fail("Elapsed", driver.InvalidHandle, "an event without timing, or not recorded")
	case !a.mark.done || !b.mark.done:
		return 0, c.fail("Elapsed", driver.NotReady, "an event has not been reached yet")
	}
	return float64(b.when-a.when) / float64(time.Millisecond), nil
}
