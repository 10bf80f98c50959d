package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/kernel/worker/child"
)

// Command runs a program as worker process.
type Command struct {
	// Environment are variables ("NAME=value") that the program gets in addition to those
	// of this process. They take precedence.
	Environment []string
	// Folder is the working directory of the program; empty is that of this process.
	Folder string

	reserve *reserve // of file descriptors, shared by all processes of a Program; may be nil
	cmd     *exec.Cmd
	group   group
	cleanup []io.Closer // the child's ends of the pipes
}

var _ Runner = (*Command)(nil)

// NewCommand returns a Command that will run the program name with arguments.
func NewCommand(name string, arguments ...string) *Command {
	return &Command{cmd: exec.Command(name, arguments...)}
}

// Program returns a function that makes a Runner for a program with its arguments, which
// runs in a folder, or for "" in that of this process. The function's arguments are the
// path of another program that runs with the same arguments, or "", and
// [Command.Environment].
func Program(command []string, folder string) func(program string, environment []string) Runner {
	kept := &reserve{}
	return func(program string, environment []string) Runner {
		if program == "" {
			program = command[0]
		}
		c := NewCommand(program, command[1:]...)
		c.Environment, c.Folder, c.reserve = environment, folder, kept
		return c
	}
}

// Start starts the program with pipes for its link and its output.
func (c *Command) Start(token string) (pipes Pipes, err error) {
	if c.reserve != nil {
		c.reserve.release()
		defer c.reserve.fill()
	}
	var ours []io.Closer
	defer func() {
		for _, f := range c.cleanup {
			f.Close()
		}
		if err != nil {
			for _, f := range ours {
				f.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	childIn, toChild := pipe()
	fromChild, childOut := pipe()
	stdout, childStdout := pipe()
	stderr, childStderr := pipe()
	for _, f := range []*os.File{childIn, childOut, childStdout, childStderr} {
		if f != nil {
			c.cleanup = append(c.cleanup, f)
		}
	}
	for _, f := range []*os.File{toChild, fromChild, stdout, stderr} {
		if f != nil {
			ours = append(ours, f)
		}
	}
	if err != nil {
		return Pipes{}, fmt.Errorf("create pipes for the worker: %w", err)
	}

	c.cmd.Stdout, c.cmd.Stderr = childStdout, childStderr
	where, err := inherit(c.cmd, childIn, childOut)
	if err != nil {
		return Pipes{}, fmt.Errorf("create pipes for the worker: %w", err)
	}
	c.cmd.Env = append(append(os.Environ(), c.Environment...), child.LinkVariable+"="+where, child.MarkVariable+"="+token)
	if c.Folder != "" {
		c.cmd.Dir = c.Folder
		c.cmd.Env = append(c.cmd.Env, "PWD="+c.Folder) // what cells start may ask for it
	}
	if _, set := os.LookupEnv("GOTRACEBACK"); !set {
		// The stacks of a crash are those of the interpreter and would bury the reason.
		c.cmd.Env = append(c.cmd.Env, "GOTRACEBACK="+child.NoStacks)
	}
	if err := c.group.start(c.cmd); err != nil {
		return Pipes{}, err
	}
	return Pipes{Link: &duplex{fromChild, toChild}, Stdout: stdout, Stderr: stderr}, nil
}

// duplex is a bidirectional stream made of two pipes.
type duplex struct {
	io.ReadCloser
	out io.WriteCloser
}

func (d *duplex) Write(p []byte) (int, error) { return d.out.Write(p) }

func (d *duplex) Close() error { return errors.Join(d.out.Close(), d.ReadCloser.Close()) }

// Wait waits for the end of the process, kills everything that it started, and returns
// how it ended.
func (c *Command) Wait() string {
	err := c.cmd.Wait()
	c.group.end()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err.Error()
	}
	return describe(c.cmd.ProcessState)
}

// exited describes a process that has exited.
func exited(state *os.ProcessState) string {
	return state.String() + ": the program ended itself, for example by os.Exit or log.Fatal"
}

// Kill kills the process group.
func (c *Command) Kill() { c.group.kill() }

// ID returns the process id.
func (c *Command) ID() string {
	if c.cmd.Process == nil {
		return "not started"
	}
	return strconv.Itoa(c.cmd.Process.Pid)
}

// Diagnose describes the program file and whether it can be run.
func (c *Command) Diagnose() string {
	path := c.cmd.Path
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err.Error()
	case info.IsDir():
		return fmt.Sprintf("%s is a directory", path)
	}
	words := slices.Clone(c.cmd.Args)
	words[0] = path
	return fmt.Sprintf("command %q, a file of %d bytes with mode %s", strings.Join(words, " "), info.Size(), info.Mode())
}
