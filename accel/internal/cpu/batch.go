package cpu

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// RunsBatches returns true: the update of all parameters is one step, after which the threads
// meet once. Most parameters are biases, too small for several threads.
func (d *Device) RunsBatches() bool { return true }

// loops are fused loops that run as one. Each chunk computes a part of every loop, so that a thread updates the part of a weight that it
// multiplies by and whose gradient it computes: products, too, give each thread a range of a weight's rows.
type loops struct {
	all    []*loop
	chunks int
	pool   *pool
}

const (
	// loopMultiple is what the number of elements of a part is a multiple of, so that no cache line belongs to two threads.
	loopMultiple = cacheLine
	// mostLoopChunks is the largest number of chunks for each thread, because every chunk goes through all loops.
	mostLoopChunks = 16
)

func newLoops(d *Device, s ir.Step) (step, error) {
	b := &loops{pool: d.pool}
	elements := 0
	for i := range s.Parts {
		l, err := newLoop(d, s.Part(i))
		if err != nil {
			return nil, err
		}
		b.all = append(b.all, l)
		elements += l.n
	}
	b.chunks = min((elements+blockLen-1)/blockLen, mostLoopChunks*d.pool.size)
	if b.chunks > 1 {
		b.chunks = roundUp(b.chunks, d.pool.size)
	}
	return b, nil
}

func (b *loops) run(p *program) error {
	for _, l := range b.all {
		l.bind(p)
	}
	b.pool.run(b.chunks, b)
	for _, l := range b.all {
		l.unbind()
	}
	return nil
}

func (b *loops) work(chunk, worker int) {
	for _, l := range b.all {
		from, to := l.n*chunk/b.chunks, l.n*(chunk+1)/b.chunks
		if chunk+1 < b.chunks {
			to = to / loopMultiple * loopMultiple
		}
		l.elements(from/loopMultiple*loopMultiple, to, worker)
	}
}
