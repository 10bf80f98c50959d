//go:build !unix && !windows

package control

import "time"

// ownCPU returns the CPU time that this process has received; false where the system does
// not say.
func ownCPU() (cpu time.Duration, known bool) { return 0, false }
