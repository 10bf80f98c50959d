package interp

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// Standard input of children.
//
// In cells os.Stdin is a file that stands for the session's input, which may ask a
// person. A child that is given it reads a pipe, and the session asks for what the
// child has not got: not at once, most children do not read.

const (
	// askChild is how long a child runs before the session asks for its input.
	askChild = 100 * time.Millisecond
	// lookChild is how often the session looks whether it still runs.
	lookChild = 20 * time.Millisecond
)

// A ContextReader is a standard input whose reads may be given up.
type ContextReader interface {
	io.Reader
	// ReadContext is Read, and returns when ctx ends.
	ReadContext(ctx context.Context, p []byte) (int, error)
}

// childMethods are the methods of exec.Cmd that start a child.
func (s *Session) childMethods() (start, run func(*exec.Cmd) error, output, combined func(*exec.Cmd) ([]byte, error)) {
	with := func(f func(*exec.Cmd) error) func(*exec.Cmd) error {
		return func(c *exec.Cmd) error { s.giveStdin(c); return f(c) }
	}
	withOutput := func(f func(*exec.Cmd) ([]byte, error)) func(*exec.Cmd) ([]byte, error) {
		return func(c *exec.Cmd) ([]byte, error) { s.giveStdin(c); return f(c) }
	}
	return with((*exec.Cmd).Start), with((*exec.Cmd).Run), withOutput((*exec.Cmd).Output), withOutput((*exec.Cmd).CombinedOutput)
}

// giveStdin has a command that was given os.Stdin read the session's input.
func (s *Session) giveStdin(c *exec.Cmd) {
	if c != nil && s.standsForStdin(c.Stdin) {
		c.Stdin = &childStdin{s.config.stdin, s.askChild, func() *os.Process { return c.Process }}
	}
}

// standsForStdin says whether r is what os.Stdin is in cells.
func (s *Session) standsForStdin(r io.Reader) bool {
	return r == io.Reader(s.stdinFile) && s.config.stdin != io.Reader(os.Stdin)
}

// startProcess is os.StartProcess for cells.
func (s *Session) startProcess(name string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	if attr == nil || !slices.ContainsFunc(attr.Files, func(f *os.File) bool { return f != nil && s.standsForStdin(f) }) {
		return os.StartProcess(name, argv, attr)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	own := *attr
	own.Files = slices.Clone(attr.Files)
	for i, f := range own.Files {
		if f != nil && s.standsForStdin(f) {
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
		// It ends with the input or with the child.
		_, _ = io.Copy(w, &childStdin{s.config.stdin, s.askChild, func() *os.Process { return p }})
	}()
	return p, nil
}

// childStdin is the session's input as a child reads it. It ends with the child.
type childStdin struct {
	r       io.Reader
	after   time.Duration // to wait before each read
	process func() *os.Process
}

// Read implements io.Reader.
func (c *childStdin) Read(p []byte) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wait := time.NewTimer(c.after)
	defer wait.Stop()
	look := time.NewTicker(lookChild)
	defer look.Stop()
	for waiting := true; waiting; {
		select {
		case <-wait.C:
			waiting = false
		case <-look.C:
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
			case <-look.C:
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

// ended says whether the child has been waited for.
func (c *childStdin) ended() bool {
	p := c.process()
	return p != nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
