package cpu

import (
	"sync"
	"sync/atomic"
	"time"
)

// task is work in chunks that may run concurrently and in any order.
type task interface {
	// work runs one chunk. worker is less than the pool's size; no two chunks run
	// concurrently with the same worker.
	work(chunk, worker int)
}

// pool is a fork-join pool. Each worker begins with a share of neighboring chunks, the
// same ones for the same number of chunks, so that the data that it wrote is in its own
// cache when the next step reads it. A worker that has finished takes chunks from the ends
// of the other shares. A helper that the system does not schedule only delays the chunk
// that it is running.
type pool struct {
	size int // number of helpers plus the caller

	// shares are the chunks that no worker has taken yet, one share per worker. A
	// successful compare-and-swap owns a chunk; current does not change until every owned
	// chunk is done.
	shares  []share
	left    atomic.Int32
	current task
	// runs counts the runs that have begun. Helpers wait for the next one, not for a share with chunks: one that saw the first share before its own
	// would take chunks of another worker.
	runs atomic.Uint32

	// waiting is set by a caller that has stopped spinning. The worker that finishes the
	// last chunk clears it and sends to done.
	waiting atomic.Bool
	done    chan struct{}

	patience

	parked atomic.Int32
	wake   chan struct{}
	quit   chan struct{}
	ended  sync.WaitGroup
}

// share is a range of chunks, its end in the high half and the next chunk in the low half,
// on a cache line of its own.
type share struct {
	chunks atomic.Uint64
	_      [cacheLine - 8]byte
}

func (s *share) set(from, to int) { s.chunks.Store(uint64(to)<<32 | uint64(from)) }

// take returns the next chunk of the share, or the last one for another worker.
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
	p := &pool{patience: patience{start: time.Now()}, size: size, shares: make([]share, size), wake: make(chan struct{}, size), done: make(chan struct{}, 1), quit: make(chan struct{})}
	for i := 1; i < p.size; i++ {
		p.ended.Add(1)
		go p.help(i)
	}
	return p
}

// close stops the helpers and waits for them.
func (p *pool) close() {
	close(p.quit)
	p.ended.Wait()
}

// run runs n chunks of t on the caller and the helpers, and returns when all are done. It
// must not be called concurrently.
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
	p.runs.Add(1)
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

// chunkFunc is a task whose chunks a function runs.
type chunkFunc func(chunk, worker int)

func (f chunkFunc) work(chunk, worker int) { f(chunk, worker) }

// each runs f for n chunks, as run does.
func (p *pool) each(n int, f func(chunk, worker int)) { p.run(n, chunkFunc(f)) }

// split runs f for all of n elements, at most per of them in a chunk.
func (p *pool) split(n, per int, f func(from, to, worker int)) {
	p.each((n+per-1)/per, func(chunk, worker int) { f(chunk*per, min((chunk+1)*per, n), worker) })
}

// wait returns when all chunks are done. It eventually sleeps: on a busy machine a helper
// may need the core that the caller is spinning on.
func (p *pool) wait() {
	if p.spin(briefSpin, p.finished) {
		return
	}
	// A helper that finished the previous run may wake the caller too early.
	for p.left.Load() > 0 {
		p.waiting.Store(true)
		if p.left.Load() == 0 && p.waiting.CompareAndSwap(true, false) {
			return // no helper will send
		}
		<-p.done
	}
}

func (p *pool) finished() bool { return p.left.Load() == 0 }

// drain runs a worker's own chunks, and then those that others have left.
func (p *pool) drain(worker int) {
	done := int32(0)
	for i := range p.shares {
		from := (worker + i) % p.size
		for {
			chunk, ok := p.shares[from].take(i == 0)
			if !ok {
				break
			}
			p.current.work(chunk, worker)
			done++
		}
	}
	if done > 0 && p.left.Add(-done) == 0 && p.waiting.CompareAndSwap(true, false) {
		p.done <- struct{}{}
	}
}

func (p *pool) help(worker int) {
	defer p.ended.Done()
	last := time.Duration(0) // wait
	seen := uint32(0)
	begun := func() bool { return p.runs.Load() != seen }
	for {
		began := time.Since(p.start)
		if !p.spin(p.limit(began, last), begun) {
			p.parked.Add(1)
			if !begun() {
				select {
				case <-p.wake:
				case <-p.quit:
					p.parked.Add(-1)
					return
				}
			}
			p.parked.Add(-1)
		}
		last = time.Since(p.start) - began
		seen = p.runs.Load()
		p.drain(worker)
	}
}
