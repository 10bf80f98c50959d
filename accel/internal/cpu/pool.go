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
	spinRounds = 400
	waitRounds = 2000
)

// pool is a fork-join pool. Chunks are claimed from one counter, so a helper
// that the system does not schedule holds nobody up but for the chunk that it
// has in hand.
type pool struct {
	size int // helpers and the caller

	// claim is the number of chunks (high half) and of the next one (low
	// half). A successful compare-and-swap owns a chunk, and current does not
	// change until every owned chunk is done.
	claim   atomic.Uint64
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

func newPool(size int) *pool {
	p := &pool{size: max(size, 1), wake: make(chan struct{}, size), done: make(chan struct{}, 1), quit: make(chan struct{})}
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
	p.claim.Store(uint64(n) << 32)
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
		pause(4)
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

// drain claims chunks until none is left.
func (p *pool) drain(worker int) {
	for {
		c := p.claim.Load()
		i := uint32(c)
		if i >= uint32(c>>32) {
			return
		}
		if p.claim.CompareAndSwap(c, c+1) {
			p.current.work(int(i), worker)
			if p.left.Add(-1) == 0 && p.waiting.CompareAndSwap(true, false) {
				p.done <- struct{}{}
			}
		}
	}
}

func (p *pool) busy() bool {
	c := p.claim.Load()
	return uint32(c) < uint32(c>>32)
}

func (p *pool) help(worker int) {
	defer p.ended.Done()
	for {
		for i := 0; i < spinRounds && !p.busy(); i++ {
			pause(10)
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
