//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

// guardian waits for the end of its input and then kills its process group, including
// itself. It ignores the signals that are meant for cells, such as an interrupt.
const guardian = `trap '' HUP INT QUIT TERM; read -r never; kill -KILL 0`

// startGuardian starts a shell in a process group. The shell kills the group when this
// process ends, however that happens: no other process knows then what cells have
// started. Without a shell there is no guardian.
func startGuardian(leader int) error {
	input, ours, err := os.Pipe() // no other process inherits our end
	if err != nil {
		return err
	}
	defer input.Close()
	cmd := exec.Command("/bin/sh", "-c", guardian)
	cmd.Stdin, cmd.Dir, cmd.Env = input, "/", []string{}
	cmd.Stdout, cmd.Stderr = input, input // it writes nothing, and a null device would need two more descriptors
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: leader}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return err
	}
	go func() {
		_ = cmd.Wait() // it is killed with its group
		ours.Close()
	}()
	return nil
}
