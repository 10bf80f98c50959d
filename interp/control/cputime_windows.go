package control

import (
	"syscall"
	"time"
)

// ownCPU returns the CPU time of this process. known is false if the system does not
// provide it.
func ownCPU() (cpu time.Duration, known bool) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, false
	}
	var created, ended, system, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &ended, &system, &user); err != nil {
		return 0, false
	}
	return duration(system) + duration(user), true
}

// duration converts a Filetime that is a duration, in units of 100 ns, and not a time.
func duration(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
