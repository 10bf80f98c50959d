package library

import (
	"context"
	"os/exec"
	"runtime"
	"time"

	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/internal/descendants"
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
		"quern/rt/rt": functionsOf(map[string]any{
			"CommandStart": start, "CommandRun": run, "CommandOutput": output, "CommandCombinedOutput": combined,
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
