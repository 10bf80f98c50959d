package cuda

import (
	"errors"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// held is the device memory and the graphs of a program. It outlives the program until
// reclaim releases it.
type held struct {
	words, faults driver.Pointer   // 0 for none
	instances     []*graphInstance // the newest last
	measured      []*graphInstance // with events, for profiles; the newest last
}

// unreachable is what programs held that the garbage collector has found.
type unreachable struct {
	mu   sync.Mutex
	held []*held // guarded by mu
}

// add adds what a program held. The runtime calls it on another goroutine.
func (u *unreachable) add(h *held) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held = append(u.held, h)
}

// reclaim frees everything. After an error it goes on with the rest, unless the device is
// lost.
func (u *unreachable) reclaim(q *queue) error {
	u.mu.Lock()
	dropped := u.held
	u.held = nil
	u.mu.Unlock()
	var failed []error
	for _, h := range dropped {
		err := q.release(h)
		failed = append(failed, err)
		if driver.Lost(err) {
			break
		}
	}
	return errors.Join(failed...)
}

// release closes the graphs of a program and frees its memory.
func (q *queue) release(h *held) error {
	var failed []error
	for _, x := range append(h.instances, h.measured...) {
		failed = append(failed, q.closeInstance(x))
	}
	for _, at := range []driver.Pointer{h.words, h.faults} {
		if at != 0 {
			failed = append(failed, q.ctx.Free(at, q.stream))
		}
	}
	return errors.Join(failed...)
}
