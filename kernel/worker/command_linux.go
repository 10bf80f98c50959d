package worker

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startTied starts a process that Linux kills when this process ends, even if it is stuck
// and does not notice the end of its link. Linux ties it to the thread that started it
// (https://go.dev/issue/27505), so that thread is kept until done is closed.
func startTied(cmd *exec.Cmd, done <-chan struct{}) error {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-done
		}
	}()
	return <-started
}
