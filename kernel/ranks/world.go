package ranks

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// A world is a number of ranks that start together and end together. That of one rank
// is an exception: its worker is replaced when it ends.
type world struct {
	size
	next    size // of the world after this one
	group   *Group
	members []*worker.Supervisor // by rank
	begun   <-chan struct{}      // closed when the world before has ended
	ended   chan struct{}        // closed when it has been over and its processes have ended

	// Of the group's lock.
	over  bool // it is not asked any more
	busy  bool // a cell runs
	cells int  // that have begun

	// Of several ranks.
	fold  *fold
	shown *shown
	once  *once

	mu     sync.Mutex
	deaths []death
}

// A size is how many ranks there are, and the GPUs that there are for them.
type size struct {
	ranks int
	gpus  []string // what CUDA_VISIBLE_DEVICES calls them
}

// newWorld returns a world that may start once another has ended.
func (g *Group) newWorld(s size, begun <-chan struct{}) *world {
	w := &world{size: s, next: s, group: g, begun: begun, ended: make(chan struct{})}
	if s.ranks == 1 {
		w.members = []*worker.Supervisor{worker.New(func() worker.Runner { return g.newRunner(nil) }, alone{g.notebook, g}, g.log)}
		return w
	}
	w.fold, w.shown, w.once = newFold(s.ranks, g.notebook.Stream), newShown(s.ranks), newOnce()
	meeting := newMeeting()
	for rank := range s.ranks {
		runner := g.newRunner(meeting.environment(rank, s))
		w.members = append(w.members, worker.NewOnce(runner, &member{world: w, rank: rank}, g.log.With("rank", rank)))
	}
	return w
}

// each calls f for all members at the same time and returns what went wrong.
func (w *world) each(f func(*worker.Supervisor) error) error {
	if len(w.members) == 1 {
		return f(w.members[0])
	}
	errs := make([]error, len(w.members))
	var calls sync.WaitGroup
	for rank, m := range w.members {
		calls.Go(func() {
			if err := f(m); err != nil {
				errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
			}
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}

// hurry gives out what ranks have printed: they are to end their cell.
func (w *world) hurry() {
	if w.fold != nil {
		w.fold.hurry()
	}
}

// A death is a rank that has ended by itself.
type death struct {
	rank int
	worker.End
}

// died tells that a rank has ended by itself.
func (w *world) died(rank int, end worker.End) {
	w.mu.Lock()
	w.deaths = append(w.deaths, death{rank, end})
	w.mu.Unlock()
	w.group.condemn(w)
}

// killedWith is why the ranks are killed that are left.
const killedWith = "another rank has ended"

// condemn ends a world of which a rank has ended, and starts another in its place. If
// the rank has never served, the next request does that: the next world would not
// either.
func (g *Group) condemn(w *world) {
	g.mu.Lock()
	if w.over || g.closed {
		g.mu.Unlock()
		return
	}
	w.over = true
	busy := w.busy
	// Under the lock, so that Shutdown waits for it.
	g.ending.Go(func() {
		defer close(w.ended)
		// The others may be about to end by themselves, all for the same reason.
		time.Sleep(agreement)
		w.hurry()
		_ = w.each(func(m *worker.Supervisor) error { m.Kill(killedWith); return nil })
		g.ending.Go(func() { w.succeed(busy) })
	})
	g.mu.Unlock()
	g.notebook.WorkerEnded()
}

// succeed starts the world after this one, and tells of its end where no cell does.
func (w *world) succeed(busy bool) {
	w.mu.Lock()
	deaths := w.deaths
	w.mu.Unlock()
	served, cell := len(deaths) > 0, 0
	for _, d := range deaths {
		served, cell = served && d.Served, max(cell, d.Cell)
	}
	if !served {
		return
	}
	if !busy {
		for _, line := range w.endedBecause(w.causes()).Traceback {
			w.group.notebook.Stream(cell, "stderr", []byte(line+"\n"))
		}
	}
	w.group.Start()
}

// causes are why ranks have ended by themselves.
func (w *world) causes() (causes []cause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.deaths {
		causes = add(causes, d.rank, &link.CellError{Name: worker.Died, Value: d.Reason})
	}
	return causes
}
