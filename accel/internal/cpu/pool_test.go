package cpu

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// counter counts how often each chunk runs, and how many run at once under one worker.
type counter struct {
	chunks  []atomic.Int32
	workers []atomic.Int32
	failed  atomic.Bool
}

func (c *counter) work(chunk, worker int) {
	if c.workers[worker].Add(1) != 1 {
		c.failed.Store(true)
	}
	c.chunks[chunk].Add(1)
	c.workers[worker].Add(-1)
}

func TestPoolDoesEachChunkOnce(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8} {
		p := newPool(size)
		for round := range 2000 {
			n := round % 40
			c := &counter{chunks: make([]atomic.Int32, n), workers: make([]atomic.Int32, size)}
			p.run(n, c)
			for i := range c.chunks {
				if got := c.chunks[i].Load(); got != 1 {
					t.Fatalf("pool of %d: chunk %d of %d was done %d times", size, i, n, got)
				}
			}
			if c.failed.Load() {
				t.Fatalf("pool of %d: two chunks ran at once under one worker", size)
			}
		}
		p.close()
	}
}

// meeting is a task of two chunks that run at the same time, and counts those that the worker of the other share runs.
type meeting struct {
	arrived atomic.Int32
	taken   int // by the wrong worker; written by the caller's chunk
}

func (m *meeting) work(chunk, worker int) {
	if worker == 0 && chunk != 0 {
		m.taken++
	}
	m.arrived.Add(1)
	for m.arrived.Load() < 2 {
		runtime.Gosched()
	}
}

// A helper that is ready begins with its own chunks, whose data is in its cache. One that the system stops while it ends a run may
// take another one.
func TestPoolKeepsChunksWithTheirWorkers(t *testing.T) {
	p := newPool(2)
	defer p.close()
	const rounds = 500
	m := &meeting{}
	for range rounds {
		m.arrived.Store(0)
		p.run(2, m)
	}
	if m.taken > rounds/50 {
		t.Errorf("in %d of %d runs, each worker ran the chunk of the other one", m.taken, rounds)
	}
}

func TestPoolAllocatesNothing(t *testing.T) {
	p := newPool(2)
	defer p.close()
	c := &counter{chunks: make([]atomic.Int32, 8), workers: make([]atomic.Int32, 2)}
	if n := testing.AllocsPerRun(100, func() { p.run(8, c) }); n > 0 {
		t.Errorf("a run allocates %v objects", n)
	}
}

func BenchmarkPool(b *testing.B) {
	p := newPool(2)
	defer p.close()
	c := &counter{chunks: make([]atomic.Int32, 8), workers: make([]atomic.Int32, 2)}
	for b.Loop() {
		p.run(8, c)
	}
}
