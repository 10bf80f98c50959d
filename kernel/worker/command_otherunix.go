//go:build unix && !linux

package worker

import "os/exec"

// startTied starts a process. Other systems have no parent-death signal as Linux has; the
// worker notices the end of its link instead.
func startTied(cmd *exec.Cmd, _ <-chan struct{}) error { return cmd.Start() }
