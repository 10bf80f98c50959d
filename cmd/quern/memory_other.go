//go:build !linux

package main

// boundMemory does nothing: RLIMIT_DATA has this meaning only on Linux.
func boundMemory(int64) error { return nil }
