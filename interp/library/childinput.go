package library

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// Standard input of child processes.
//
// In cells, os.Stdin is a placeholder for the input of the session, which may ask the user.
// A child process that is started with it reads from a pipe, to which the session writes its
// input. The session does not read its input at once, because most children do not need it.

const (
	// childInputDelay is how long a child runs before the session reads input for it.
	childInputDelay = 100 * time.Millisecond
	// childPoll is how often the session checks whether the child still runs.
	childPoll = 20 * time.Millisecond
)

// A ContextReader is a standard input whose reads can be canceled.
type ContextReader interface {
	io.Reader
	// ReadContext is like Read, but returns when ctx ends.
	ReadContext(ctx context.Context, p []byte) (int, error)
}

// A childStdin is the input of the session for a child. It ends with the child.
type childStdin struct {
	r       io.Reader
	delay   time.Duration // before each read
	process func() *os.Process
}

// Read implements io.Reader.
func (c *childStdin) Read(p []byte) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wait := time.NewTimer(c.delay)
	defer wait.Stop()
	poll := time.NewTicker(childPoll)
	defer poll.Stop()
	for waiting := true; waiting; {
		select {
		case <-wait.C:
			waiting = false
		case <-poll.C:
			if c.ended() {
				return 0, io.EOF
			}
		}
	}
	r, ok := c.r.(ContextReader)
	if !ok {
		return c.r.Read(p)
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-poll.C:
				if c.ended() {
					cancel()
				}
			}
		}
	}()
	n, err := r.ReadContext(ctx, p)
	if ctx.Err() != nil {
		return n, io.EOF
	}
	return n, err
}

// ended reports whether the child has been waited for.
func (c *childStdin) ended() bool {
	p := c.process()
	return p != nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
