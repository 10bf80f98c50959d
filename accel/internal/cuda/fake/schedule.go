package fake

import (
	"errors"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// command is work on the device. It runs after all commands in after.
type command struct {
	call  string // method of driver.Context, for errors
	op    string // a description, for errors
	after []*command
	run   func() error // nil for a marker in a stream
	done  bool
	hosts [][]byte // host memory that it reads or writes
	asked time.Duration
	takes time.Duration
}

func (c *command) ready() bool {
	for _, before := range c.after {
		if !before.done {
			return false
		}
	}
	return true
}

// stream is a queue: each command runs after the previous one.
type stream struct {
	last    *command
	capture *capture // nil unless the stream is being captured
}

// push queues a command in a stream. With a seed, it then runs a random number of the
// waiting commands; without, all of them.
func (c *context) push(s *stream, cmd *command) {
	if s.capture != nil {
		s.capture.add(c, cmd)
		return
	}
	if s.last != nil && !s.last.done {
		cmd.after = append(cmd.after, s.last)
	}
	s.last = cmd
	cmd.asked = time.Since(c.began)
	c.waiting = append(c.waiting, cmd)
	if c.random == nil {
		c.drain(nil)
		return
	}
	for range c.random.IntN(3) {
		c.one()
	}
}

// one runs one command that is ready, a random one with a seed. It returns false if none
// is.
func (c *context) one() bool {
	var ready []int
	for i, cmd := range c.waiting {
		if cmd.ready() {
			if ready = append(ready, i); c.random == nil {
				break
			}
		}
	}
	if len(ready) == 0 {
		return false
	}
	i := ready[0]
	if c.random != nil {
		i = ready[c.random.IntN(len(ready))]
	}
	cmd := c.waiting[i]
	c.waiting = slices.Delete(c.waiting, i, i+1)
	cmd.done = true
	c.clock = max(c.clock, c.queuedAt(cmd)) + cmd.takes
	if cmd.run != nil && c.broken == nil {
		if err := cmd.run(); err != nil {
			c.broken = c.failure(cmd, err)
		}
	}
	cmd.run, cmd.after, cmd.hosts = nil, nil, nil
	return true
}

// drain runs commands until the given one is done, or all for nil.
func (c *context) drain(until *command) {
	for (until == nil || !until.done) && c.one() {
	}
}

// failure returns the error of a command that failed while it ran.
func (c *context) failure(cmd *command, err error) *driver.Error {
	if known, ok := errors.AsType[*driver.Error](err); ok {
		return known
	}
	return &driver.Error{Code: faultCode(err), Call: calls[cmd.call], Op: cmd.op, Log: err.Error(), Cause: err}
}
