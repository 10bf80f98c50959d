package cpu

import (
	"sync"
	"sync/atomic"
)

// task is work in chunks that may run in any order and at the same time.
type task interface {
	// work does one chunk. worker is below the pool's size and no two chunks
	// run at once under the same worker.
	work(chunk, worker int)
}

// How long a helper looks for work before it parks, and how long the caller
// looks for the end before it sleeps: some tens of microseconds, about what
// waking a parked goroutine costs.
const (
	spinRounds = 4000
	waitRounds = 4000
)

// pool is a fork-join pool. Each worker begins with a share of neighbouring
// chunks, the same ones for the same number of chunks, so that what it wrote
// is in its own cache when the next step reads it; who has finished takes from
// the others' ends. A helper that the system does not schedule holds nobody up
// but for the chunk that it has in hand.
type pool struct {
	size int // helpers and the caller

	// shares are the chunks that nobody has taken yet, one share for each
	// worker. A successful compare-and-swap owns a chunk, and current does not
	// change until every owned chunk is done.
	shares  []share
	left    atomic.Int32
	current task

	// waiting is set by a caller that has stopped looking; who finishes the
	// last chunk clears it and sends to done.
	waiting atomic.Bool
	done    chan struct{}

	parked atomic.Int32
	wake   chan struct{}
	quit   chan struct{}
	ended  sync.WaitGroup
}

// share is a range of chunks, its end in the high half and the next one in the
// low half, on a cache line of its own.
type share struct {
	chunks atomic.Uint64
	_      [cacheLine - 8]byte
}

func (s *share) set(from, to int) { s.chunks.Store(uint64(to)<<32 | uint64(from)) }

func (s *share) empty() bool {
	c := s.chunks.Load()
	return uint32(c) >= uint32(c>>32)
}

// take is the next chunk, or for a worker of another share the last one.
func (s *share) take(own bool) (chunk int, ok bool) {
	for {
		c := s.chunks.Load()
		next, end := uint32(c), uint32(c>>32)
		switch {
		case next >= end:
			return 0, false
		case own:
			if s.chunks.CompareAndSwap(c, c+1) {
				return int(next), true
			}
		case s.chunks.CompareAndSwap(c, c-1<<32):
			return int(end - 1), true
		}
	}
}

func newPool(size int) *pool {
	size = max(size, 1)
	p := &pool{size: size, shares: make([]share, size), wake: make(chan struct{}, size), done: make(chan struct{}, 1), quit: make(chan struct{})}
	for i := 1; i < p.size; i++ {
		p.ended.Add(1)
		go p.help(i)
	}
	return p
}

// close ends the helpers and waits for them.
func (p *pool) close() {
	close(p.quit)
	p.ended.Wait()
}

// run does n chunks of t on the caller and the helpers, and returns when all
// are done. One caller at a time.
func (p *pool) run(n int, t task) {
	if n <= 1 || p.size == 1 {
		for i := range n {
			t.work(i, 0)
		}
		return
	}
	p.current = t
	p.left.Store(int32(n))
	for w := range p.shares {
		p.shares[w].set(n*w/p.size, n*(w+1)/p.size)
	}
	for range min(int(p.parked.Load()), n-1) {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	p.drain(0)
	p.wait()
	p.current = nil
}

// wait returns when all chunks are done. It sleeps in the end: on a busy
// machine a helper may need the processor that the caller would keep.
func (p *pool) wait() {
	for range waitRounds {
		if p.left.Load() == 0 {
			return
		}
		pause(1)
	}
	// A helper that finished the run before may wake the caller too early.
	for p.left.Load() > 0 {
		p.waiting.Store(true)
		if p.left.Load() == 0 && p.waiting.CompareAndSwap(true, false) {
			return // nobody will send
		}
		<-p.done
	}
}

// drain does a worker's own chunks, and then those that others have left.
func (p *pool) drain(worker int) {
	for i := range p.shares {
		from := (worker + i) % p.size
		for {
			chunk, ok := p.shares[from].take(i == 0)
			if !ok {
				break
			}
			p.current.work(chunk, worker)
			if p.left.Add(-1) == 0 && p.waiting.CompareAndSwap(true, false) {
				p.done <- struct{}{}
			}
		}
	}
}

func (p *pool) busy() bool {
	for w := range p.shares {
		if !p.shares[w].empty() {
			return true
		}
	}
	return false
}

func (p *pool) help(worker int) {
	defer p.ended.Done()
	for {
		for i := 0; i < spinRounds && !p.busy(); i++ {
			pause(1)
		}
		if !p.busy() {
			p.parked.Add(1)
			if !p.busy() {
				select {
				case <-p.wake:
				case <-p.quit:
					p.parked.Add(-1)
					return
				}
			}
			p.parked.Add(-1)
		}
		p.drain(worker)
	}
}
