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

// memoryVariable bounds the memory of a worker: bytes, or with a unit as 4GiB or
// 500MB, or off. Without it a worker may have most of what the machine or the
// container has.
const memoryVariable = "QUERN_MEMORY_LIMIT"

// A memoryLimit bounds the memory of a worker.
type memoryLimit struct {
	bytes int64  // 0: there is none
	whose string // "this machine" or "this container" where the user has set none
	ranks int    // that share what there is; 0 where there is one
}

// units are those of memoryVariable, the longer ones first.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

// leastMemory is what a session without variables needs to run cells.
const leastMemory = 128 << 20

// parseMemory reads a value of memoryVariable.
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
			return memoryLimit{}, fmt.Errorf("%s is %q: give bytes, a number with a unit as 4GiB, or off", memoryVariable, text)
		case bytes < leastMemory:
			return memoryLimit{}, fmt.Errorf("%s is %q: a worker needs at least %s", memoryVariable, text, size(leastMemory))
		default:
			return memoryLimit{bytes: int64(bytes)}, nil
		}
	}
	return memoryLimit{}, errors.New("unreachable: the last unit is empty")
}

// forOthers is for the kernel process, the client of the notebook and the system, where a
// tenth is not enough for them.
const forOthers = 256 << 20

// systemMemory is what a worker may have of the machine or of its container, given
// what each of them has: all but what others need. Where neither is known there is no
// limit.
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
	limit.bytes -= max(limit.bytes/10, min(limit.bytes/2, forOthers))
	return limit
}

// size is "1.5 GiB".
func size(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.3g GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%.3g MiB", float64(bytes)/(1<<20))
}

const (
	// watchInterval is short enough that what is written meanwhile, at a few GiB a
	// second, does not upset the system.
	watchInterval = 20 * time.Millisecond
	// calmInterval is for a session that is far from its limit.
	calmInterval = 100 * time.Millisecond
)

// limitMemory has the collector keep below a limit as well as it can, and calls
// exceeded once when what is in use goes over it. It watches until ctx ends.
func limitMemory(ctx context.Context, limit int64, exceeded func(used int64)) {
	debug.SetMemoryLimit(limit - limit/20)
	timer := time.NewTimer(watchInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		used, needed := memoryInUse()
		if used < limit/4 {
			timer.Reset(calmInterval)
		} else {
			timer.Reset(watchInterval)
		}
		if used <= limit {
			continue
		}
		if needed <= limit {
			// It may be garbage that the collector has not come to yet.
			runtime.GC()
			used, _ = memoryInUse()
		}
		if used > limit {
			exceeded(used)
			return
		}
	}
}

// memoryInUse is what the runtime has from the system and does not hold free.
// needed is without what may be garbage: it has been made since the last collection,
// or was found to be garbage there.
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

// memoryExceeded is the last line of a worker that needs more than it may have.
// It begins as the runtime's own last words do, which the kernel shows as the
// reason of the error.
func memoryExceeded(w io.Writer, limit memoryLimit, used int64) {
	text := fmt.Sprintf("and %s is %s", memoryVariable, size(limit.bytes))
	if limit.whose != "" {
		text = fmt.Sprintf("and may have %s of the memory of %s; %s sets another limit", size(limit.bytes), limit.whose, memoryVariable)
	}
	if limit.ranks > 0 {
		text += fmt.Sprintf("; it is one of %d ranks, which have equal parts", limit.ranks)
	}
	fmt.Fprintf(w, "\nfatal error: memory limit exceeded: the session needs %s, %s\n", size(used), text)
}
