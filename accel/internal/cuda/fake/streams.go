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
	return call(c, "NewStream", func() (driver.Stream, error) {
		s := driver.Stream(c.next())
		c.streams[s] = &stream{}
		return s, nil
	})
}

// CloseStream lets queued work continue.
func (c *context) CloseStream(s driver.Stream) error {
	return c.on("CloseStream", s, func(*stream) error {
		if s == 0 {
			return c.fail("CloseStream", driver.InvalidHandle, "the default stream cannot be closed")
		}
		delete(c.streams, s)
		return nil
	})
}

func (c *context) SyncStream(s driver.Stream) error {
	return c.on("SyncStream", s, func(q *stream) error {
		c.counts.Syncs++
		if q.last != nil {
			c.drain(q.last)
		}
		c.wait(c.clock)
		return c.end()
	})
}

func (c *context) Sync() error {
	return c.call("Sync", func() error {
		c.counts.Syncs++
		c.drain(nil)
		c.wait(c.clock)
		return c.end()
	})
}

func (c *context) NewEvent(timed bool) (driver.Event, error) {
	return call(c, "NewEvent", func() (driver.Event, error) {
		e := driver.Event(c.next())
		c.events[e] = &event{timed: timed}
		return e, nil
	})
}

// withEvent makes a call for an event.
func (c *context) withEvent(name string, e driver.Event, do func(ev *event) error) error {
	return c.call(name, func() error {
		ev, err := find(c, name, "event", c.events[e], e)
		if err != nil {
			return err
		}
		return do(ev)
	})
}

func (c *context) CloseEvent(e driver.Event) error {
	return c.withEvent("CloseEvent", e, func(*event) error {
		delete(c.events, e)
		return nil
	})
}

func (c *context) Record(e driver.Event, s driver.Stream) error {
	return c.withEvent("Record", e, func(ev *event) error {
		q, err := c.stream("Record", s)
		if err != nil {
			return err
		}
		c.push(q, c.marking(ev, "Record"))
		return nil
	})
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
	return c.withEvent("Wait", e, func(ev *event) error {
		q, err := c.stream("Wait", s)
		if err != nil {
			return err
		}
		if ev.mark != nil {
			c.push(q, &command{call: "Wait", after: []*command{ev.mark}})
		}
		return nil
	})
}

func (c *context) Done(e driver.Event) (done bool, err error) {
	err = c.withEvent("Done", e, func(ev *event) error {
		if ev.mark == nil || ev.mark.done {
			done = c.driver.options.KernelTime == nil || c.driver.options.Instant || ev.when <= time.Since(c.began)
			return c.end()
		}
		c.one() // each query lets one command run
		done = ev.mark.done
		return c.end()
	})
	return done, err
}

func (c *context) SyncEvent(e driver.Event) error {
	return c.withEvent("SyncEvent", e, func(ev *event) error {
		c.counts.Syncs++
		if ev.mark != nil {
			c.drain(ev.mark)
		}
		c.wait(ev.when)
		return c.end()
	})
}

func (c *context) Elapsed(from, to driver.Event) (ms float64, err error) {
	err = c.withEvent("Elapsed", from, func(a *event) error {
		b, err := find(c, "Elapsed", "event", c.events[to], to)
		switch {
		case err != nil:
			return err
		case !a.timed || !b.timed || a.mark == nil || b.mark == nil:
			return c.fail("Elapsed", driver.InvalidHandle, "an event without timing, or not recorded")
		case !a.mark.done || !b.mark.done:
			return c.fail("Elapsed", driver.NotReady, "an event has not been reached yet")
		}
		ms = float64(b.when-a.when) / float64(time.Millisecond)
		return nil
	})
	return ms, err
}
