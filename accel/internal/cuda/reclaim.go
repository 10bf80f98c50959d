package cuda

import (
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

// reclaim frees everything.
func (u *unreachable) reclaim(q *queue) error {
	u.mu.Lock()
	dropped := u.held
	u.held = nil
	u.mu.Unlock()
	for _, h := range dropped {
		for _, x := range append(h.instances, h.measured...) {
			if err := q.closeInstance(x); err != nil {
				return err
			}
		}
		for _, at := range []driver.Pointer{h.words, h.faults} {
			if at == 0 {
				continue
			}
			if err := q.ctx.Free(at, q.stream); err != nil {
				return err
			}
		}
	}
	return nil
}
