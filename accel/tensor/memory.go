package tensor

import (
	"math"
	"runtime/debug"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// SetMemoryLimit limits the bytes of tensors and temporaries on the device and returns the previous
// limit. 0, the default, means 7/8 of the machine's memory or of the Go runtime's limit
// (GOMEMLIMIT; in a notebook QUERN_MEMORY_LIMIT), whichever is less, and on a GPU what its driver
// can allocate. An op or run that would exceed the limit panics with an *OutOfMemoryError, after
// unreachable tensors have been collected. Existing tensors, including the parameters of a failed
// step, keep their values, and the session goes on.
func SetMemoryLimit(bytes int) (old int) {
	locked(func(*ir.Recorder) {
		e := shared()
		old, e.limit = e.limit, max(bytes, 0)
		e.applyMemoryLimit()
	})
	return old
}

// defaultLimit leaves an eighth of the memory to other uses; it returns 0 if the machine's memory
// is unknown.
func defaultLimit() int {
	limit := uint64(debug.SetMemoryLimit(-1))
	if machine, err := mem.VirtualMemory(); err == nil && machine.Total > 0 {
		limit = min(limit, machine.Total)
	}
	if limit >= math.MaxInt64 {
		return 0
	}
	return int(limit - limit/8)
}
