package magic

import (
	"os/exec"
	"strconv"
)

var systemShell = []string{"cmd", "/c"}

// startGroup starts a command. kill ends it with its children.
func startGroup(c *exec.Cmd) (kill func(), err error) {
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() {
		if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(c.Process.Pid)).Run() != nil {
			// It fails when the process has ended.
			_ = c.Process.Kill()
		}
	}, nil
}
