//go:build unix

package worker

import "syscall"

// closeAll closes all descriptors of the process, which no cell should do.
func closeAll() {
	for fd := range 256 {
		_ = syscall.Close(fd)
	}
}
