//go:build !linux

package cpu

// hugePages does nothing on this system.
func hugePages(_, _ uintptr) {}
