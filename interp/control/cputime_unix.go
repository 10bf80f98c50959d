//go:build unix

package control

import (
	"syscall"
	"time"
)

// ownCPU returns the CPU time of this process. known is false if the system does not
// provide it.
func ownCPU() (cpu time.Duration, known bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
