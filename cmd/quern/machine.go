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

// machine is the memory of the machine, in bytes.
type machine struct {
	total, available int64
	own              int64 // what this process has of it
	ranks            int64 // processes that share it
}

// scarce says whether next to nothing is left, of which this process has a good
// part.
func (m machine) scarce() bool { return m.available < m.total/32 && m.own > m.total/4/max(m.ranks, 1) }

// machineMemory asks the system.
func machineMemory() (machine, error) {
	all, err := mem.VirtualMemory()
	if err != nil {
		return machine{}, fmt.Errorf("reading the memory of the machine: %w", err)
	}
	self, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return machine{}, fmt.Errorf("reading the memory of the worker: %w", err)
	}
	own, err := self.MemoryInfo()
	if err != nil {
		return machine{}, fmt.Errorf("reading the memory of the worker: %w", err)
	}
	return machine{int64(all.Total), int64(all.Available), int64(own.RSS), int64(localRanks())}, nil
}

// machineInterval is how often the memory of the machine is looked at.
const machineInterval = 100 * time.Millisecond

// spareMachine calls exhausted once when a machine has next to no memory left and it
// is this process that has it: the system would begin to swap, and end one process
// or another. It looks until ctx ends or an answer is missing.
func spareMachine(ctx context.Context, look func() (machine, error), exhausted func(machine)) {
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
		debug.FreeOSMemory() // it may be garbage
		if m, err = look(); err == nil && m.scarce() {
			exhausted(m)
			return
		}
	}
}

// machineExhausted is the last line of a worker that has used up the machine.
func machineExhausted(w io.Writer, m machine) {
	fmt.Fprintf(w, "\nfatal error: memory limit exceeded: the session has %s, and the machine has no more than %s of its %s left; %s=off lets it go on\n",
		size(m.own), size(m.available), size(m.total), memoryVariable)
}
