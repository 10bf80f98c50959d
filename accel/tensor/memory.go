package tensor

import (
	"math"
	"runtime/debug"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/quernlab/quern/accel/internal/ir"
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

// MemoryUse is the memory of tensors, as [Memory] returns it.
type MemoryUse = ir.MemoryUse

// Memory runs the recorded ops and the garbage collector and returns the memory of tensors on the device, as
// torch.cuda.memory_allocated, memory_reserved and max_memory_allocated do; it works on the CPU, too. Tensors that have
// not moved to the device yet count as allocated. Peak is since the start of the program or [ResetStats].
func Memory() (use MemoryUse) {
	locked(func(r *ir.Recorder) {
		r.Flush()
		use = r.MemoryUse()
	})
	return use
}

// PeakBytes runs f and returns the maximum number of bytes that tensors and temporaries took at
// once, including those of before f and of other goroutines. Unreachable tensors do not count: the
// garbage collector runs before f and at each new peak. If no new kind of step is planned, a peak
// less than 1/16 above the previous one may be missed.
func PeakBytes(f func()) (bytes int) {
	ir.Collect()
	var stop func()
	locked(func(r *ir.Recorder) { stop = r.Meter(&bytes) })
	defer locked(func(*ir.Recorder) { stop() })
	f()
	Flush()
	return bytes
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
