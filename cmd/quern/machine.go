package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"
)

// machine describes the memory of the machine, in bytes.
type machine struct {
	total, available int64
	own              int64 // used by this process
	ranks            int64 // number of ranks that share it
}

// scarce reports whether almost no memory is left and this process uses a large part of
// it.
func (m machine) scarce() bool { return m.available < m.total/32 && m.own > m.total/4/max(m.ranks, 1) }

// machineMemory returns the current state.
func machineMemory() (machine, error) {
	all, err := mem.VirtualMemory()
	if err != nil {
		return machine{}, fmt.Errorf("read the memory usage of the machine: %w", err)
	}
	self, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return machine{}, fmt.Errorf("read the memory usage of the worker: %w", err)
	}
	own, err := self.MemoryInfo()
	if err != nil {
		return machine{}, fmt.Errorf("read the memory usage of the worker: %w", err)
	}
	return machine{int64(all.Total), int64(all.Available), int64(own.RSS), int64(localRanks(os.LookupEnv))}, nil
}

// machineInterval is how often the memory of the machine is checked.
const machineInterval = 100 * time.Millisecond

// watchMachine calls exhausted once when almost no memory is left and this process uses a
// large part of it. Otherwise the system would start to swap and kill some process. It
// returns when ctx ends or look fails.
func watchMachine(ctx context.Context, look func() (machine, error), exhausted func(machine)) {
	ticker := time.NewTicker(machineInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		m, err := look()
		if err != nil {
			return
		}
		if !m.scarce() {
			continue
		}
		debug.FreeOSMemory() // part of it may be garbage
		if m, err = look(); err == nil && m.scarce() {
			exhausted(m)
			return
		}
	}
}

// machineExhausted writes the last line of a worker that has used up the machine's
// memory.
func machineExhausted(w io.Writer, m machine) {
	fmt.Fprintf(w, "\nfatal error: memory limit exceeded: the session uses %s, and only %s of the machine's %s are left; %s=off turns this check off\n",
		size(m.own), size(m.available), size(m.total), memoryVariable)
}
