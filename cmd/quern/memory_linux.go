package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// boundMemory makes the system refuse memory far beyond a limit. A single statement such
// as s += s may exceed the limit that far before limitMemory looks again. The runtime
// then fails with "out of memory". Programs that a cell starts inherit the bound.
//
// It sets RLIMIT_DATA, which limits private writable memory. What the process already
// has, including thread stacks and the race detector's shadow memory, is added.
func boundMemory(limit int64) error {
	used, err := dataSize()
	if err != nil {
		return err
	}
	var bound unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &bound); err != nil {
		return fmt.Errorf("read the memory limit RLIMIT_DATA: %w", err)
	}
	// The collector may need twice the memory in use, and threads need stacks.
	most := uint64(used) + 2*uint64(limit) + 512<<20
	if most >= bound.Cur {
		return nil
	}
	bound.Cur = most
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &bound); err != nil {
		return fmt.Errorf("set the memory limit RLIMIT_DATA: %w", err)
	}
	return nil
}

// dataSize returns what RLIMIT_DATA counts, in bytes: VmData of proc(5).
func dataSize() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read the memory in use: %w", err)
	}
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("VmData:")); ok {
			kilobytes, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the memory in use: %w", err)
			}
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("read the memory in use: /proc/self/status has no VmData")
}
