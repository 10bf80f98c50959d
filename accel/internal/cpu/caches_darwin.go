//go:build !amd64 || purego

package cpu

import "golang.org/x/sys/unix"

// detectCaches asks the system for the caches of its fast cores. Apple documents the sizes (sysctl(3)) but not the ways, which are those of
// Apple's M series: 8 of L1 and 12 of L2, which the cores of a cluster share.
func detectCaches() Caches {
	size := func(name string) int {
		n, err := unix.SysctlUint64(name)
		if err != nil {
			return 0
		}
		return int(n)
	}
	return Caches{L1: Cache{size("hw.perflevel0.l1dcachesize"), 8}, L2: Cache{size("hw.perflevel0.l2cachesize"), 12}}
}
