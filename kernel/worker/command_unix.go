//go:build unix

package worker

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// firstExtra is the descriptor in the child of the first of exec.Cmd.ExtraFiles.
const firstExtra = 3

// inherit lets the child inherit its ends of the link and returns their descriptors,
// separated by a comma.
func inherit(cmd *exec.Cmd, in, out *os.File) (string, error) {
	cmd.ExtraFiles = []*os.File{in, out}
	return fmt.Sprintf("%d,%d", firstExtra, firstExtra+1), nil
}

// group is the process group of a worker. Its id is the process id of the worker.
type group struct {
	done chan struct{} // closed when Wait has returned

	mu     sync.Mutex
	leader int // process id; 0 if there is no group
}

func (g *group) start(cmd *exec.Cmd) error {
	// The worker has its own group: an interrupt from a terminal is for the kernel
	// process, which forwards it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	g.done = make(chan struct{})
	if err := startTied(cmd, g.done); err != nil {
		return err
	}
	g.mu.Lock()
	g.leader = cmd.Process.Pid
	g.mu.Unlock()
	// Without a shell, programs that cells have started may outlive a killed kernel. That
	// is no reason not to start.
	_ = startGuardian(cmd.Process.Pid)
	return nil
}

// kill kills the whole group. The worker may have exited already while its children run.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leader > 0 {
		// It fails if no process is left, which is what we want.
		_ = syscall.Kill(-g.leader, syscall.SIGKILL)
	}
}

// end kills what is left of the group after Wait has returned. From then on the system
// may reuse the group's id.
func (g *group) end() {
	g.kill()
	close(g.done)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leader = 0
}

// describe returns how a process ended, for the user.
func describe(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return exited(state)
	}
	switch signal := status.Signal(); signal {
	case syscall.SIGKILL:
		return "killed by signal SIGKILL, often because the system ran out of memory"
	case syscall.SIGSEGV, syscall.SIGBUS:
		return fmt.Sprintf("ended by signal %d (%v): code outside Go accessed invalid memory", signal, signal)
	default:
		return fmt.Sprintf("ended by signal %d (%v)", signal, signal)
	}
}
