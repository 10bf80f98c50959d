//go:build unix

package main

import (
	"syscall"
	"time"
)

// used returns the CPU time that this process has used.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other errors than those of its arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
