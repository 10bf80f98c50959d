package cuda

import (
	"encoding/binary"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
)

// faultBytes is the size of the record that a step writes if it finds its data to be
// wrong: the kind and position of the fault, and for some ops the value.
const faultBytes = 16

// explain returns the error for what a step wrote to its records, nil if it wrote nothing. An explain that is nil is that of a
// further record of the step before.
type explain func(records []byte) error

// explained reads one record.
func explained(why kernels.Explain) explain {
	return func(b []byte) error {
		return why(binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:])))
	}
}

// report is the records of one run, being copied to the host.
type report struct {
	mark     uint64 // the point in the timeline after the copy
	bytes    []byte // pinned
	explains []explain
}

// faults are the reports that the host has not read, the oldest first.
type faults struct {
	ctx      driver.Context
	timeline *timeline
	pending  []report
	idle     map[int][][]byte // by length
	detected []error          // by a simulated GPU, which a real one would not have
}

func newFaults(ctx driver.Context, m *timeline) *faults {
	return &faults{ctx: ctx, timeline: m, idle: map[int][][]byte{}}
}

// maxPending is how many reports may be in flight before the host waits for the oldest.
const maxPending = len(timeline{}.events) / 2

// buffer returns pinned memory for a report.
func (f *faults) buffer(bytes int) ([]byte, error) {
	if list := f.idle[bytes]; len(list) > 0 {
		b := list[len(list)-1]
		f.idle[bytes] = list[:len(list)-1]
		return b, nil
	}
	return f.ctx.AllocHost(bytes)
}

func (f *faults) add(r report) { f.pending = append(f.pending, r) }

// check reads the reports up to a point in the timeline that the host has waited for, and
// returns the first error.
func (f *faults) check(mark uint64) error {
	if err := f.first(); err != nil {
		return err
	}
	for len(f.pending) > 0 && f.pending[0].mark <= mark {
		if err := f.look(); err != nil {
			return err
		}
	}
	return nil
}

// poll reads the reports that have arrived. It waits for the oldest if too many are in
// flight.
func (f *faults) poll() error {
	if err := f.first(); err != nil {
		return err
	}
	for len(f.pending) > 0 {
		e := f.timeline.event(f.pending[0].mark)
		done, err := f.ctx.Done(e)
		if err == nil && !done && len(f.pending) >= maxPending {
			done, err = true, f.ctx.SyncEvent(e)
		}
		if err != nil {
			return err
		}
		if !done {
			return nil
		}
		if err := f.look(); err != nil {
			return err
		}
	}
	return nil
}

// first returns the first of the detected errors, and drops them all.
func (f *faults) first() (err error) {
	if len(f.detected) > 0 {
		err, f.detected = f.detected[0], nil
	}
	return err
}

// look reads the oldest report and removes it.
func (f *faults) look() error {
	r := f.pending[0]
	f.pending = append(f.pending[:0], f.pending[1:]...)
	f.idle[len(r.bytes)] = append(f.idle[len(r.bytes)], r.bytes)
	for i, why := range r.explains {
		if why == nil {
			continue
		}
		if err := why(r.bytes[i*faultBytes:]); err != nil {
			return err
		}
	}
	return nil
}
