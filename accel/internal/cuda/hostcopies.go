package cuda

import (
	"errors"
	"time"
)

// HostCopies measures copies of a number of bytes to the device, from pinned and from pageable memory. It
// returns the mean times of the rounds after the first.
func (d *Device) HostCopies(bytes, rounds int) (pinned, pageable time.Duration, err error) {
	to, err := d.memory.alloc(bytes)
	if err != nil {
		return 0, 0, err
	}
	defer d.memory.free(to)
	host, err := d.ctx.AllocHost(bytes)
	if err != nil {
		return 0, 0, d.failed("copy of pinned memory", err)
	}
	defer func() { err = errors.Join(err, d.ctx.FreeHost(host)) }()
	for _, from := range []struct {
		memory []byte
		mean   *time.Duration
	}{{host, &pinned}, {make([]byte, bytes), &pageable}} {
		var begin time.Time
		for round := range rounds + 1 {
			if round == 1 {
				begin = time.Now()
			}
			err := d.ctx.CopyToDevice(to.at, from.memory, d.stream)
			if err == nil {
				err = d.ctx.SyncStream(d.stream)
			}
			if err != nil {
				return 0, 0, d.failed("copy of host memory", err)
			}
		}
		*from.mean = time.Since(begin) / time.Duration(rounds)
	}
	return pinned, pageable, nil
}
