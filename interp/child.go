package interp

import (
	"context"
	"os/exec"
	"runtime"
	"time"

	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/internal/descendants"
)

// command is exec.Command for cells: like Control-C in a terminal, an interrupt of
// the cell that calls it is one of the child, and of those that it has started.
func (s *Session) childCommand(name string, arg ...string) *exec.Cmd {
	m := s.goroutines.Member()
	if m == nil || m.IsStopped() {
		return exec.Command(name, arg...)
	}
	cmd := exec.CommandContext(m.Run.Context(), name, arg...)
	cmd.Cancel = func() error { return endChild(cmd) }
	return cmd
}

// childCommandContext is exec.CommandContext for cells: the child is interrupted
// as well when its cell is, whatever its context is.
func (s *Session) childCommandContext(ctx context.Context, name string, arg ...string) *exec.Cmd {
	m := s.goroutines.Member()
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

// endChild interrupts a child, and kills it when it does not end.
func endChild(cmd *exec.Cmd) error {
	tree := descendants.Of(cmd.Process.Pid)
	tree.Interrupt()
	time.AfterFunc(control.ChildGrace, tree.Kill)
	// What holds its streams open then is not waited for.
	cmd.WaitDelay = control.ChildGrace
	return nil
}
