package library

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/internal/descendants"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stream"
)

// children starts child processes. Like Control-C in a terminal, an interrupt of the cell
// that starts a child interrupts the child and all processes that it has started.
type children struct {
	goroutines Goroutines
	in         *stream.Input
	inputDelay func() time.Duration
}

func (c *children) functions() Packages {
	start, run, output, combined := c.methods()
	packages := Packages{
		"os/exec/exec": functionsOf(map[string]any{"Command": c.command, "CommandContext": c.commandContext}),
		"os/os":        functionsOf(map[string]any{"StartProcess": c.startProcess}),
		rt.Methods: functionsOf(map[string]any{
			"(*os/exec.Cmd).Start": start, "(*os/exec.Cmd).Run": run, "(*os/exec.Cmd).Output": output, "(*os/exec.Cmd).CombinedOutput": combined,
		}),
	}
	packages["os/os"]["Stdin"] = c.stdin()
	return packages
}

// command is exec.Command.
func (c *children) command(name string, arg ...string) *exec.Cmd {
	m := c.goroutines.Member()
	if m == nil || m.IsStopped() {
		return exec.Command(name, arg...)
	}
	cmd := exec.CommandContext(m.Context(), name, arg...)
	cmd.Cancel = func() error { return endChild(cmd) }
	return cmd
}

// commandContext is exec.CommandContext. An interrupt of the cell interrupts the child
// whatever its context is.
func (c *children) commandContext(ctx context.Context, name string, arg ...string) *exec.Cmd {
	m := c.goroutines.Member()
	if ctx == nil || m == nil || m.IsStopped() {
		return exec.CommandContext(ctx, name, arg...)
	}
	ctx, cancel := context.WithCancel(ctx)
	forget := m.OnStop(cancel)
	cmd := exec.CommandContext(ctx, name, arg...)
	runtime.AddCleanup(cmd, func(forget func()) { forget(); cancel() }, forget)
	cmd.Cancel = func() error {
		if !m.IsStopped() {
			return cmd.Process.Kill()
		}
		return endChild(cmd)
	}
	return cmd
}

// endChild interrupts a child, and kills it if it has not ended after control.ChildGrace.
func endChild(cmd *exec.Cmd) error {
	tree := descendants.Of(cmd.Process.Pid)
	tree.Interrupt()
	time.AfterFunc(control.ChildGrace, tree.Kill)
	// Processes that hold the child's streams open longer are not waited for.
	cmd.WaitDelay = control.ChildGrace
	return nil
}

// stdin returns the variable os.Stdin of cells.
func (c *children) stdin() reflect.Value { return reflect.ValueOf(c.in.File()).Elem() }

// methods returns the methods of exec.Cmd that start a child.
func (c *children) methods() (start, run func(*exec.Cmd) error, output, combined func(*exec.Cmd) ([]byte, error)) {
	with := func(f func(*exec.Cmd) error) func(*exec.Cmd) error {
		return func(cmd *exec.Cmd) error { c.prepare(cmd); return f(cmd) }
	}
	withOutput := func(f func(*exec.Cmd) ([]byte, error)) func(*exec.Cmd) ([]byte, error) {
		return func(cmd *exec.Cmd) ([]byte, error) { c.prepare(cmd); return f(cmd) }
	}
	return with((*exec.Cmd).Start), with((*exec.Cmd).Run), withOutput((*exec.Cmd).Output), withOutput((*exec.Cmd).CombinedOutput)
}

// prepare makes a command that was given os.Stdin read the input of the session, and one in a browser fail.
func (c *children) prepare(cmd *exec.Cmd) {
	if cmd == nil {
		return
	}
	if noProcesses != nil {
		cmd.Err = noProcesses
	}
	if c.in.IsSubstitute(cmd.Stdin) {
		cmd.Stdin = c.input(func() *os.Process { return cmd.Process })
	}
}

// input returns the input of the session for a child process.
func (c *children) input(process func() *os.Process) *childStdin {
	return &childStdin{c.in.Source(), c.inputDelay(), process}
}

// startProcess is os.StartProcess.
func (c *children) startProcess(name string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	if noProcesses != nil {
		return nil, &os.PathError{Op: "fork/exec", Path: name, Err: noProcesses}
	}
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
