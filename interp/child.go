package interp

import (
	"os"
	"os/exec"
	"time"
)

// childProcess is exec.Command for cells: like Control-C in a terminal, an
// interrupt of the cell that calls it is one of the child.
func (s *Session) childProcess(name string, arg ...string) *exec.Cmd {
	m := s.members.current()
	if m == nil || m.isStopped() {
		return exec.Command(name, arg...)
	}
	cmd := exec.CommandContext(runContext{m.run}, name, arg...)
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	cmd.WaitDelay = childGrace
	return cmd
}

// childGrace is how long an interrupted child may take to end before it is
// killed.
const childGrace = 250 * time.Millisecond
