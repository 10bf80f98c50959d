package cuda

import (
	"encoding/binary"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// faultBytes is what a step that checks its data may write: what was wrong and
// where, and for some ops the value that was found.
const faultBytes = 16

// explain makes the error of a step of what it has written; nil if nothing was
// wrong.
type explain func(fault uint64, value int64) error

// report is what the checking steps of one run have written, on its way to the
// host.
type report struct {
	mark     uint64 // behind the copy
	bytes    []byte // pinned
	explains []explain
}

// faults are the reports that the host has not looked at, the oldest first.
type faults struct {
	ctx     driver.Context
	marks   *marks
	pending []report
	idle    map[int][][]byte // by length
}

func newFaults(ctx driver.Context, m *marks) *faults {
	return &faults{ctx: ctx, marks: m, idle: map[int][][]byte{}}
}

// mostPending is how many runs may be on their way before the host waits for one.
const mostPending = len(marks{}.events) / 2

// buffer is pinned memory for a report.
func (f *faults) buffer(bytes int) ([]byte, error) {
	if list := f.idle[bytes]; len(list) > 0 {
		b := list[len(list)-1]
		f.idle[bytes] = list[:len(list)-1]
		return b, nil
	}
	return f.ctx.AllocHost(bytes)
}

func (f *faults) add(r report) { f.pending = append(f.pending, r) }

// check looks at the reports up to a mark that the host has waited for, and gives
// the error of the first that says something.
func (f *faults) check(mark uint64) error {
	for len(f.pending) > 0 && f.pending[0].mark <= mark {
		if err := f.look(); err != nil {
			return err
		}
	}
	return nil
}

// poll looks at the reports that have arrived, and waits for one where there are
// too many.
func (f *faults) poll() error {
	for len(f.pending) > 0 {
		e := f.marks.event(f.pending[0].mark)
		done, err := f.ctx.Done(e)
		if err == nil && !done && len(f.pending) >= mostPending {
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

// look takes the oldest report. With an error the later ones are forgotten: they are
// of runs that would not have been, had it been known.
func (f *faults) look() error {
	r := f.pending[0]
	f.pending = append(f.pending[:0], f.pending[1:]...)
	f.idle[len(r.bytes)] = append(f.idle[len(r.bytes)], r.bytes)
	for i, why := range r.explains {
		b := r.bytes[i*faultBytes:]
		if err := why(binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))); err != nil {
			return err
		}
	}
	return nil
}
