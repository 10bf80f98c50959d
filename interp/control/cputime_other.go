//go:build !unix && !windows

package control

import "time"

// ownCPU returns the CPU time of this process. known is false if the system does not
// provide it.
func ownCPU() (cpu time.Duration, known bool) { return 0, false }
