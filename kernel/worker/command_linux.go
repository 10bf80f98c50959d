package worker

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startTied starts a process that the system kills when the front dies, even
// where the process is stuck and does not see the end of its link. Linux ties it
// to the thread that starts it (https://go.dev/issue/27505), which therefore is
// kept until done is closed.
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
