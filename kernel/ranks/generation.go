package ranks

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// A generation is a number of ranks that start together and end together; %ranks or the
// death of a rank replaces it by another generation. In a generation of one rank, a dead
// worker is replaced on its own.
type generation struct {
	size
	next    size // of the next generation
	group   *Group
	members []*worker.Supervisor // by rank
	begun   <-chan struct{}      // closed when the previous generation has ended
	ended   chan struct{}        // closed when its processes have ended

	// Protected by the group's lock.
	over  bool // it receives no more requests
	busy  bool // a cell is running
	cells int  // how many cells have begun

	// Only with several ranks.
	merger *merger
	shown  *shown
	once   *once

	mu     sync.Mutex
	deaths []death
}

// A size is the number of ranks, the GPUs available to them, and the program that they run.
type size struct {
	ranks   int
	gpus    []string // as named in CUDA_VISIBLE_DEVICES
	program string   // its path; empty for that of the kernel
}

// newGeneration returns a generation that may start once begun is closed.
func (g *Group) newGeneration(s size, begun <-chan struct{}) *generation {
	gen := &generation{size: s, next: s, group: g, begun: begun, ended: make(chan struct{})}
	if s.ranks == 1 {
		gen.members = []*worker.Supervisor{worker.New(func() worker.Runner { return g.newRunner(s.program, nil) }, singleNotebook{g.notebook, g}, g.log)}
		return gen
	}
	gen.merger, gen.shown, gen.once = newMerger(s.ranks, g.holdTime, g.notebook.Stream), newShown(s.ranks), newOnce()
	rendezvous := newRendezvous()
	for rank := range s.ranks {
		runner := g.newRunner(s.program, rendezvous.environment(rank, s))
		gen.members = append(gen.members, worker.NewWithoutRestart(runner, &rankNotebook{gen: gen, rank: rank}, g.log.With("rank", rank)))
	}
	return gen
}

// each calls f concurrently for all members and joins the errors.
func (gen *generation) each(f func(*worker.Supervisor) error) error {
	if len(gen.members) == 1 {
		return f(gen.members[0])
	}
	errs := make([]error, len(gen.members))
	var calls sync.WaitGroup
	for rank, m := range gen.members {
		calls.Go(func() {
			if err := f(m); err != nil {
				errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
			}
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}

// flush emits the held output of the ranks, since they should end their cell.
func (gen *generation) flush() {
	if gen.merger != nil {
		gen.merger.flush()
	}
}

// A death is a rank that has ended without being asked to.
type death struct {
	rank int
	worker.End
}

// died records that a rank has ended without being asked to.
func (gen *generation) died(rank int, end worker.End) {
	gen.mu.Lock()
	gen.deaths = append(gen.deaths, death{rank, end})
	gen.mu.Unlock()
	gen.group.terminate(gen)
}

// killedReason is why the remaining ranks are killed.
const killedReason = "another rank has ended"

// terminate ends a generation after one of its ranks has ended, and starts the next one.
// If the rank was never ready, the next request starts it: an immediate start would fail
// too.
func (g *Group) terminate(gen *generation) {
	g.mu.Lock()
	if gen.over || g.closed {
		g.mu.Unlock()
		return
	}
	gen.over = true
	busy := gen.busy
	notified := make(chan struct{}) // WorkerEnded concerns objects of this generation only
	// Under the lock, so that Shutdown waits for it.
	g.ending.Go(func() {
		defer close(gen.ended)
		<-notified
		// The others may be about to end on their own for the same reason.
		time.Sleep(g.agreementTime)
		gen.flush()
		_ = gen.each(func(m *worker.Supervisor) error { m.Kill(killedReason); return nil })
		g.ending.Go(func() { gen.startNext(busy) })
	})
	g.mu.Unlock()
	var why *link.CellError
	if !busy {
		why = gen.endedBecause(gen.causes())
	}
	g.notebook.WorkerEnded(why)
	close(notified)
}

// startNext starts the next generation. If no cell was running, it writes to the notebook
// why the ranks have ended.
func (gen *generation) startNext(busy bool) {
	gen.mu.Lock()
	deaths := gen.deaths
	gen.mu.Unlock()
	ready, cell := len(deaths) > 0, 0
	for _, d := range deaths {
		ready, cell = ready && d.Ready, max(cell, d.Cell)
	}
	if !ready {
		return
	}
	if !busy {
		for _, line := range gen.endedBecause(gen.causes()).Traceback {
			gen.group.notebook.Stream(cell, "stderr", []byte(line+"\n"))
		}
	}
	gen.group.Start()
}

// causes returns why ranks have ended on their own.
func (gen *generation) causes() (causes []cause) {
	gen.mu.Lock()
	defer gen.mu.Unlock()
	for _, d := range gen.deaths {
		causes = add(causes, d.rank, &link.CellError{Name: worker.Died, Value: d.Reason})
	}
	return causes
}
