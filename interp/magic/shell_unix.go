//go:build unix

package magic

import (
	"os/exec"
	"syscall"
)

var systemShell = []string{"sh", "-c"}

// startGroup starts a command as the leader of a process group. kill ends the
// whole group.
func startGroup(c *exec.Cmd) (kill func(), err error) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	// It fails when nobody is left, and that is what is wanted.
	return func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }, nil
}
