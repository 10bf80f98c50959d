package control

import (
	"syscall"
	"time"
)

// ownCPU returns the CPU time that this process has received; false where the system does
// not say.
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

// duration returns a Filetime that is no moment but a duration, in units of 100 ns.
func duration(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
