package cpu

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// RunsBatches returns true: the update of all parameters is one step, after which the threads
// meet once. Most parameters are biases, too small for several threads.
func (d *Device) RunsBatches() bool { return true }

// loops are fused loops that run as one. They are behind one another in a range of elements,
// which is divided into blocks: a block may end one loop and begin others.
type loops struct {
	all   []*loop
	first []int // position of each loop in the range, and the end of the last one
	pool  *pool
}

// betweenLoops is what the position of a loop is a multiple of, so that no cache line of its
// results belongs to two blocks.
const betweenLoops = cacheLine

func newLoops(d *Device, s ir.Step) (step, error) {
	b := &loops{first: []int{0}, pool: d.pool}
	for i := range s.Parts {
		l, err := newLoop(d, s.Part(i))
		if err != nil {
			return nil, err
		}
		b.all = append(b.all, l)
		b.first = append(b.first, roundUp(b.first[i]+l.n, betweenLoops))
	}
	return b, nil
}

func (b *loops) run(p *program) error {
	for _, l := range b.all {
		l.bind(p)
	}
	b.pool.run((b.first[len(b.all)]+blockLen-1)/blockLen, b)
	for _, l := range b.all {
		l.unbind()
	}
	return nil
}

func (b *loops) work(block, worker int) {
	from, to := block*blockLen, (block+1)*blockLen
	i, found := slices.BinarySearch(b.first, from)
	if !found {
		i--
	}
	for ; i < len(b.all) && b.first[i] < to; i++ {
		l, at := b.all[i], b.first[i]
		l.elements(max(from-at, 0), min(to-at, l.n), worker)
	}
}
