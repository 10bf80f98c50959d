//go:build !unix && !windows

package magic

import "os/exec"

var systemShell = []string{"sh", "-c"}

func startGroup(c *exec.Cmd) (kill func(), err error) {
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() { _ = c.Process.Kill() }, nil
}
