package library

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"syscall"
	"time"
)

// Standard input of child processes.
//
// In cells os.Stdin is a file that stands for the input of the session, which may ask the
// user. A child that is given it gets a pipe, and the session reads what the child needs:
// not at once, because most children do not read.

const (
	// childInputDelay is how long a child runs before the session reads input for it.
	childInputDelay = 100 * time.Millisecond
	// childPoll is how often the session checks whether the child still runs.
	childPoll = 20 * time.Millisecond
)

// A ContextReader is a standard input whose reads can be cancelled.
type ContextReader interface {
	io.Reader
	// ReadContext is Read, and returns when ctx ends.
	ReadContext(ctx context.Context, p []byte) (int, error)
}

// stdin returns the variable os.Stdin of cells.
func (c *children) stdin() reflect.Value { return reflect.ValueOf(c.in.File()).Elem() }

// methods returns the methods of exec.Cmd that start a child.
func (c *children) methods() (start, run func(*exec.Cmd) error, output, combined func(*exec.Cmd) ([]byte, error)) {
	with := func(f func(*exec.Cmd) error) func(*exec.Cmd) error {
		return func(cmd *exec.Cmd) error { c.setStdin(cmd); return f(cmd) }
	}
	withOutput := func(f func(*exec.Cmd) ([]byte, error)) func(*exec.Cmd) ([]byte, error) {
		return func(cmd *exec.Cmd) ([]byte, error) { c.setStdin(cmd); return f(cmd) }
	}
	return with((*exec.Cmd).Start), with((*exec.Cmd).Run), withOutput((*exec.Cmd).Output), withOutput((*exec.Cmd).CombinedOutput)
}

// setStdin makes a command that was given os.Stdin read the input of the session.
func (c *children) setStdin(cmd *exec.Cmd) {
	if cmd != nil && c.in.IsSubstitute(cmd.Stdin) {
		cmd.Stdin = c.input(func() *os.Process { return cmd.Process })
	}
}

// input returns the input of the session for a child process.
func (c *children) input(process func() *os.Process) *childStdin {
	return &childStdin{c.in.Source(), c.inputDelay(), process}
}

// startProcess is os.StartProcess.
func (c *children) startProcess(name string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	if attr == nil || !slices.ContainsFunc(attr.Files, func(f *os.File) bool { return f != nil && c.in.IsSubstitute(f) }) {
		return os.StartProcess(name, argv, attr)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	own := *attr
	own.Files = slices.Clone(attr.Files)
	for i, f := range own.Files {
		if f != nil && c.in.IsSubstitute(f) {
			own.Files[i] = r
		}
	}
	p, err := os.StartProcess(name, argv, &own)
	r.Close()
	if err != nil {
		w.Close()
		return nil, err
	}
	go func() {
		defer w.Close()
		// The copy ends with the input or with the child.
		_, _ = io.Copy(w, c.input(func() *os.Process { return p }))
	}()
	return p, nil
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
