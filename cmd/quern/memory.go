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
)

// memoryVariable bounds the memory of a worker: bytes, or with a unit as 4GiB or
// 500MB. Without it there is no limit.
const memoryVariable = "QUERN_MEMORY_LIMIT"

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

// parseMemory reads a value of memoryVariable; 0 is no limit.
func parseMemory(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		switch bytes := n * u.bytes; {
		case err != nil || !(n >= 0) || bytes >= math.MaxInt64:
			return 0, fmt.Errorf("%s is %q: give bytes, or a number with a unit as 4GiB", memoryVariable, text)
		case bytes < leastMemory:
			return 0, fmt.Errorf("%s is %q: a worker needs at least %s", memoryVariable, text, size(leastMemory))
		default:
			return int64(bytes), nil
		}
	}
	return 0, errors.New("unreachable: the last unit is empty")
}

// size is "1.5 GiB".
func size(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.3g GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%.3g MiB", float64(bytes)/(1<<20))
}

// watchInterval is short enough that what is written meanwhile, at a few GiB a
// second, does not upset the system.
const watchInterval = 20 * time.Millisecond

// limitMemory has the collector keep below a limit as well as it can, and calls
// exceeded once when what is in use goes over it. It watches until ctx ends.
func limitMemory(ctx context.Context, limit int64, exceeded func(used int64)) {
	debug.SetMemoryLimit(limit - limit/10)
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if memoryInUse() <= limit {
			continue
		}
		// It may be garbage that the collector has not come to yet.
		runtime.GC()
		if used := memoryInUse(); used > limit {
			exceeded(used)
			return
		}
	}
}

// memoryInUse is what the runtime has from the system and does not hold free.
func memoryInUse() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64() - samples[2].Value.Uint64())
}

// memoryExceeded is the last line of a worker that needs more than it may have.
// It begins as the runtime's own last words do, which the kernel shows as the
// reason of the error.
func memoryExceeded(w io.Writer, limit, used int64) {
	fmt.Fprintf(w, "\nfatal error: memory limit exceeded: the session needs %s, and %s is %s\n", size(used), memoryVariable, size(limit))
}
