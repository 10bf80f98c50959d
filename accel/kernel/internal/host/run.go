package host

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// Launch describes a run.
type Launch struct {
	Grid, Block [3]int
	// Memory has the elements of the slice parameters, by parameter, and Scalars the values of the others.
	Memory  [][]byte
	Scalars []uint64
	// Unchecked leaves out the checks of indices.
	Unchecked bool
}

// grid is a running launch.
type grid struct {
	Launch
	ctx     context.Context
	program *program.Program
	next    atomic.Int64
	stop    atomic.Int64 // blocks with this number or a higher one need not run

	mutex sync.Mutex
	err   error // of the block with the lowest number
}

// Run runs all blocks. The error is a *program.Fault, that of the first block with one, or that of ctx.
func Run(ctx context.Context, p *program.Program, l Launch) error {
	g := &grid{Launch: l, ctx: ctx, program: p}
	n := l.Grid[0] * l.Grid[1] * l.Grid[2]
	g.stop.Store(int64(n))
	workers := min(runtime.GOMAXPROCS(0), n)
	if hasAtomics(p) {
		workers = 1
	}
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(g.work)
	}
	g.work()
	group.Wait()
	return g.err
}

// hasAtomics reports whether a program has atomic instructions on global memory.
func hasAtomics(p *program.Program) bool {
	for _, i := range p.Sites {
		if i.Op >= program.AtomicAdd && i.Op <= program.AtomicCAS && i.Mem.Space == program.Global {
			return true
		}
	}
	return false
}

// work runs blocks until none are left.
func (g *grid) work() {
	var m *machine
	for {
		n := g.next.Add(1) - 1
		if n >= g.stop.Load() {
			return
		}
		if m == nil {
			m = newMachine(g)
		}
		if err := m.run(int(n)); err != nil {
			g.mutex.Lock()
			if n < g.stop.Load() {
				g.stop.Store(n)
				g.err = err
			}
			g.mutex.Unlock()
		}
	}
}
