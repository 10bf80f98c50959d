//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ownGroup makes the cancellation of a command end all processes that it starts: they are
// interrupted, and killed if one is left after most of the grace period.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error {
		group := -command.Process.Pid
		err := syscall.Kill(group, syscall.SIGINT)
		time.AfterFunc(gracePeriod-time.Second, func() { _ = syscall.Kill(group, syscall.SIGKILL) }) // it may have ended
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
