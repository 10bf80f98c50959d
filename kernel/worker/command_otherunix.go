//go:build unix && !linux

package worker

import "syscall"

// dieWithParent has no counterpart here: the end of the link serves for it.
func dieWithParent(*syscall.SysProcAttr) {}
