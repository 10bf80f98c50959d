//go:build unix

package worker

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// firstExtra is the descriptor that the first of exec.Cmd.ExtraFiles becomes.
const firstExtra = 3

// inherit has the child inherit its ends of the link and returns where they are.
func inherit(cmd *exec.Cmd, in, out *os.File) (string, error) {
	cmd.ExtraFiles = []*os.File{in, out}
	return fmt.Sprintf("%d,%d", firstExtra, firstExtra+1), nil
}

// group is the process group of a worker. Its number is that of the worker.
type group struct {
	done chan struct{} // closed when the worker has been waited for

	mu     sync.Mutex
	leader int // 0 when there is no group
}

func (g *group) start(cmd *exec.Cmd) error {
	// Its own group: an interrupt from a terminal is for the front, which passes
	// it on.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	g.done = make(chan struct{})
	if err := startTied(cmd, g.done); err != nil {
		return err
	}
	g.mu.Lock()
	g.leader = cmd.Process.Pid
	g.mu.Unlock()
	// Whoever has no shell has other cares than what outlives a killed kernel.
	_ = startGuardian(cmd.Process.Pid)
	return nil
}

// kill kills the whole group. The worker may be gone and its children not.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leader > 0 {
		// It fails when nobody is left, and that is what is wanted.
		_ = syscall.Kill(-g.leader, syscall.SIGKILL)
	}
}

// end kills what is left of the group when the worker has been waited for. The
// system may give its number to others then.
func (g *group) end() {
	g.kill()
	close(g.done)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leader = 0
}

// describe tells how a process ended.
func describe(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return exited(state)
	}
	switch signal := status.Signal(); signal {
	case syscall.SIGKILL:
		return "killed by signal SIGKILL, often because the system ran out of memory"
	case syscall.SIGSEGV, syscall.SIGBUS:
		return fmt.Sprintf("ended by signal %d (%v): code outside Go touched memory that is not its own", signal, signal)
	default:
		return fmt.Sprintf("ended by signal %d (%v)", signal, signal)
	}
}
