package tensors

import (
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// MemoryUse runs the recorded ops and the garbage collector and returns the memory of tensors on the device. Tensors that have
// not moved to the device yet count as allocated. The peak is since the start of the program or [ResetStats].
func MemoryUse() (use ir.MemoryUse) {
	engine.Locked(func(r *ir.Recorder) {
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
	engine.Locked(func(r *ir.Recorder) { stop = r.Meter(&bytes) })
	defer engine.Locked(func(*ir.Recorder) { stop() })
	f()
	engine.Locked((*ir.Recorder).Flush)
	return bytes
}

// ErrNoCopies is returned by [HostCopies] on the CPU.
var ErrNoCopies = errors.New("the CPU uses batches where they are")

// HostCopies measures copies of a number of bytes from the host to the current device. It returns the mean
// times of one copy from pinned and from pageable memory, in a number of rounds after one that does not
// count. It runs all recorded ops before. It fails with [ErrNoCopies] on the CPU, and with the error of the
// device, for example a *OutOfMemoryError.
func HostCopies(bytes, rounds int) (pinned, pageable time.Duration, err error) {
	if bytes < 1 || rounds < 1 {
		return 0, 0, fmt.Errorf("tensors: HostCopies(%d, %d): the number of bytes and of rounds must be positive", bytes, rounds)
	}
	engine.Locked((*ir.Recorder).Wait)
	engine.Locked(func(r *ir.Recorder) {
		d, ok := r.Device().(interface {
			HostCopies(bytes, rounds int) (pinned, pageable time.Duration, err error)
		})
		if !ok {
			err = ErrNoCopies
			return
		}
		pinned, pageable, err = d.HostCopies(bytes, rounds)
	})
	return pinned, pageable, err
}
