//go:build !linux

package cpu

// hugePages does nothing: the system is not asked.
func hugePages([]byte) {}
