package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryVariable limits the memory of a worker: a number of bytes, a number with a unit
// such as 4GiB or 500MB, or off. Without it, a worker may use most of the memory of the
// machine or container.
const memoryVariable = "QUERN_MEMORY_LIMIT"

// A memoryLimit limits the memory of a worker.
type memoryLimit struct {
	bytes int64  // 0 means no limit
	whose string // "this machine" or "this container" if the user has set no limit
	ranks int    // number of ranks that share the memory; 0 if there is one
}

// units are the units of memoryVariable, longer ones first.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

// minMemory is what a session without variables needs to run cells.
const minMemory = 128 << 20

// parseMemory parses a value of memoryVariable.
func parseMemory(text string) (memoryLimit, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "":
		return systemMemory(memlimit.FromSystem, memlimit.FromCgroup), nil
	case "off":
		return memoryLimit{}, nil
	}
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		switch bytes := n * u.bytes; {
		case err != nil || !(n >= 0) || bytes >= math.MaxInt64:
			return memoryLimit{}, fmt.Errorf("%s is %q, want a number of bytes, a number with a unit such as 4GiB, or off", memoryVariable, text)
		case bytes < minMemory:
			return memoryLimit{}, fmt.Errorf("%s is %q: a worker needs at least %s", memoryVariable, text, size(minMemory))
		default:
			return memoryLimit{bytes: int64(bytes)}, nil
		}
	}
	return memoryLimit{}, errors.New("unreachable: the last unit is empty")
}

// reservedMemory is left for the kernel process, the notebook client and the system if a
// tenth of the memory is not enough for them.
const reservedMemory = 256 << 20

// systemMemory returns the default limit, given the memory of the machine and of its
// container: all memory except what others need. If neither is known there is no limit.
func systemMemory(machine, container memlimit.Provider) memoryLimit {
	limit := memoryLimit{}
	for _, has := range []struct {
		bytes memlimit.Provider
		whose string
	}{{machine, "this machine"}, {container, "this container"}} {
		n, err := has.bytes()
		bytes := int64(min(n, math.MaxInt64))
		if err == nil && bytes > 0 && (limit.bytes == 0 || bytes < limit.bytes) {
			limit = memoryLimit{bytes: bytes, whose: has.whose}
		}
	}
	limit.bytes -= max(limit.bytes/10, min(limit.bytes/2, reservedMemory))
	return limit
}

// size formats a number of bytes, such as "1.5 GiB".
func size(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.3g GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%.3g MiB", float64(bytes)/(1<<20))
}

const (
	// watchInterval is short enough that the system can bear what is allocated meanwhile,
	// at a few GiB per second.
	watchInterval = 20 * time.Millisecond
	// calmInterval is used while a session is far from its limit.
	calmInterval = 100 * time.Millisecond
)

// limitMemory sets the garbage collector's memory limit, and calls exceeded once when the
// memory in use is larger than the limit. It watches until ctx ends.
func limitMemory(ctx context.Context, limit int64, exceeded func(used int64)) {
	debug.SetMemoryLimit(limit - limit/20)
	watchMemory(ctx, limit, memoryInUse, runtime.GC, exceeded)
}

// watchMemory calls exceeded once when the memory in use is larger than the limit. It watches
// until ctx ends. measure is [memoryInUse] and collect collects the garbage.
func watchMemory(ctx context.Context, limit int64, measure func() (used, needed int64), collect func(), exceeded func(used int64)) {
	timer := time.NewTimer(watchInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		used, needed := measure()
		if used < limit/4 {
			timer.Reset(calmInterval)
		} else {
			timer.Reset(watchInterval)
		}
		if used <= limit {
			continue
		}
		if needed <= limit {
			// Part of it may be garbage that has not been collected yet.
			collect()
			used, _ = measure()
		}
		if used > limit {
			exceeded(used)
			return
		}
	}
}

// memoryInUse returns the memory that the runtime has from the system without what it
// holds free. needed excludes possible garbage: it counts only what was live at the last
// collection.
func memoryInUse() (used, needed int64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	used = value(0) - value(1) - value(2)
	return used, used - max(0, value(3)-value(4))
}

// memoryExceeded writes the last line of a worker that has exceeded its limit. It begins
// like a fatal error of the runtime, so the kernel shows it as the reason of the error.
func memoryExceeded(w io.Writer, limit memoryLimit, used int64) {
	text := fmt.Sprintf("but %s is %s", memoryVariable, size(limit.bytes))
	if limit.whose != "" {
		text = fmt.Sprintf("but the limit is %s of the memory of %s; set %s to change it", size(limit.bytes), limit.whose, memoryVariable)
	}
	if limit.ranks > 0 {
		text += fmt.Sprintf("; it is one of %d ranks with equal shares of the memory", limit.ranks)
	}
	fmt.Fprintf(w, "\nfatal error: memory limit exceeded: the session needs %s, %s\n", size(used), text)
}
