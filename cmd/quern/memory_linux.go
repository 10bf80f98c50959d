package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// boundMemory has the system refuse memory far beyond a limit, to which one
// statement may jump (s += s) before limitMemory looks again. The runtime then
// ends with "out of memory". Children that a cell starts inherit the bound.
//
// It is a bound of what may be written privately, RLIMIT_DATA; what the process
// has already, stacks of threads and the shadows of a race detector included,
// does not count.
func boundMemory(limit int64) error {
	used, err := dataSize()
	if err != nil {
		return err
	}
	var bound unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &bound); err != nil {
		return fmt.Errorf("reading the bound of memory: %w", err)
	}
	// The collector may need twice what is in use, and threads need stacks.
	most := uint64(used) + 2*uint64(limit) + 512<<20
	if most >= bound.Cur {
		return nil
	}
	bound.Cur = most
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &bound); err != nil {
		return fmt.Errorf("setting the bound of memory: %w", err)
	}
	return nil
}

// dataSize is what RLIMIT_DATA counts, in bytes: VmData of proc(5).
func dataSize() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("reading the memory in use: %w", err)
	}
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("VmData:")); ok {
			kilobytes, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading the memory in use: %w", err)
			}
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("reading the memory in use: /proc/self/status has no VmData")
}
