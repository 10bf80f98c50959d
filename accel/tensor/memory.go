package tensor

import (
	"math"
	"runtime/debug"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/quernlab/quern/accel/internal/ir"
)

// SetMemoryLimit bounds the bytes that tensors and the temporaries of plans may
// take on the device, and returns the old bound. 0, the default, means seven
// eighths of the machine's memory, or of the limit of Go's runtime
// (GOMEMLIMIT; in a notebook QUERN_MEMORY_LIMIT) if that is less, and on a GPU what
// its driver gives. An op, or the
// run of a list, that would go beyond panics with an *OutOfMemoryError; tensors
// that exist stay as they are, parameters of a failed step too, and the session
// goes on. Tensors that nobody can reach any more are collected before it comes
// to that.
func SetMemoryLimit(bytes int) (old int) {
	locked(func(*ir.Recorder) {
		e := shared()
		old, e.limit = e.limit, max(bytes, 0)
		e.bound()
	})
	return old
}

// PeakBytes runs f and tells the most bytes that tensors and the temporaries of a
// plan took at once meanwhile, those of before f and of other goroutines included.
// What nobody can reach any more does not count: the garbage collector runs before f
// and where there is a new peak. A peak that is less than a sixteenth above the one
// before may be missed where no new kind of step is made.
func PeakBytes(f func()) (bytes int) {
	ir.Collect()
	var stop func()
	locked(func(r *ir.Recorder) { stop = r.Meter(&bytes) })
	defer locked(func(*ir.Recorder) { stop() })
	f()
	Flush()
	return bytes
}

// defaultLimit leaves an eighth of the memory to all else; 0 where nobody knows
// how much there is.
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
