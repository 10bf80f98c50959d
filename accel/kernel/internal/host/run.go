package host

import (
	"context"
	"math"
	"runtime"
	"slices"
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

// Runner runs a program. It may be used by several goroutines.
type Runner struct {
	program *program.Program

	mutex sync.Mutex
	idle  []*machine // of earlier runs, for later ones with the same shape
}

// NewRunner returns the runner of a program.
func NewRunner(p *program.Program) *Runner { return &Runner{program: p} }

// maxIdle is how many machines a runner keeps.
const maxIdle = 4

// take returns a machine for a grid.
func (r *Runner) take(g *grid) *machine {
	r.mutex.Lock()
	i := slices.IndexFunc(r.idle, func(m *machine) bool {
		return m.block == g.Block && m.blocks == g.blocks && m.unchecked == g.Unchecked
	})
	var m *machine
	if i >= 0 {
		m = r.idle[i]
		r.idle = slices.Delete(r.idle, i, i+1)
	}
	r.mutex.Unlock()
	if m == nil {
		m = newMachine(g)
	}
	m.begin(g)
	return m
}

// put keeps a machine that is not used any more.
func (r *Runner) put(m *machine) {
	m.end()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.idle) == maxIdle {
		r.idle = slices.Delete(r.idle, 0, 1)
	}
	r.idle = append(r.idle, m)
}

// grid is a running launch.
type grid struct {
	Launch
	ctx     context.Context
	runner  *Runner
	program *program.Program
	blocks  int          // of a group, which runs at once
	later   *deferred    // nil if no operation is deferred
	next    atomic.Int64 // number of a group
	stop    atomic.Int64 // groups with this number or a higher one need not run

	mutex    sync.Mutex
	machines []*machine
	err      error // of the group with the lowest number
}

// lanes is how many threads run at once, unless a block has more: enough for the work on an instruction to be small beside that for
// the threads, and few enough for their values to be in a cache.
const lanes = 2048

// localBytes is the maximum size of the arrays of the threads that run at once, unless a block has more.
const localBytes = 64 << 20

// groupsX returns the number of groups along x.
func (g *grid) groupsX() int { return (g.Grid[0] + g.blocks - 1) / g.blocks }

// Run runs all blocks. The error is a *program.Fault, that of the first thread with one, or that of ctx.
func (r *Runner) Run(ctx context.Context, l Launch) error {
	p := r.program
	g := &grid{Launch: l, ctx: ctx, runner: r, program: p}
	workers := runtime.GOMAXPROCS(0)
	if hasAtomics(p) {
		if deferrable(p) {
			g.later = &deferred{all: map[int][]operation{}}
		} else {
			workers = 1
		}
	}
	g.blocks = 1
	if n := l.Block[0] * l.Block[1] * l.Block[2]; n%program.WarpSize == 0 {
		each := l.Grid[0] * l.Grid[1] * l.Grid[2] / workers
		local, _ := p.Bytes(program.Local, math.MaxInt)
		g.blocks = max(1, min(lanes/n, localBytes/max(local, 1)/n, l.Grid[0], each))
	}
	n := g.groupsX() * l.Grid[1] * l.Grid[2]
	g.stop.Store(int64(n))
	workers = min(workers, n)
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(g.work)
	}
	g.work()
	group.Wait()
	for _, m := range g.machines { // not earlier: deferred operations use the memories of other machines
		r.put(m)
	}
	return g.err
}

// hasAtomics reports whether a program has atomic instructions on global memory.
func hasAtomics(p *program.Program) bool {
	for _, i := range p.Sites {
		if isAtomic(i) && i.Mem.Space == program.Global {
			return true
		}
	}
	return false
}

// work runs groups until none are left.
func (g *grid) work() {
	var m *machine
	for {
		n := g.next.Add(1) - 1
		if n >= g.stop.Load() {
			return
		}
		if m == nil {
			m = g.runner.take(g)
			g.mutex.Lock()
			g.machines = append(g.machines, m)
			g.mutex.Unlock()
		}
		err := g.ctx.Err()
		if err == nil {
			err = m.run(int(n))
			if g.later != nil {
				g.later.ended(int(n), m.operations)
				m.operations = nil
			}
		}
		if err != nil {
			g.mutex.Lock()
			if n < g.stop.Load() {
				g.stop.Store(n)
				g.err = err
			}
			g.mutex.Unlock()
		}
	}
}
