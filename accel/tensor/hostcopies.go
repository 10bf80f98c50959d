package tensor

import (
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/internal/ir"
)

// ErrNoCopies is returned by [HostCopies] on the CPU.
var ErrNoCopies = errors.New("the CPU uses batches where they are")

// HostCopies measures copies of a number of bytes from the host to the current device. It returns the mean
// times of one copy from pinned and from pageable memory, in a number of rounds after one that does not
// count. It runs all recorded ops before. It fails with [ErrNoCopies] on the CPU, and with the error of the
// device, for example a *OutOfMemoryError.
func HostCopies(bytes, rounds int) (pinned, pageable time.Duration, err error) {
	if bytes < 1 || rounds < 1 {
		return 0, 0, fmt.Errorf("tensor: HostCopies(%d, %d): the number of bytes and of rounds must be positive", bytes, rounds)
	}
	Synchronize()
	locked(func(r *ir.Recorder) {
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
