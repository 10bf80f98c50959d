package ranks

import (
	"context"
	"fmt"
	"sync"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// alone is the notebook of the one rank that there is.
type alone struct {
	Notebook
	group *Group
}

func (a alone) Ranks(ctx context.Context, request link.RanksRequest) (link.RanksReply, error) {
	return a.group.Ranks(ctx, request)
}

func (a alone) Once(context.Context, link.OnceRequest) (link.OnceReply, error) {
	return link.OnceReply{}, nil // there is nobody else
}

func (a alone) WorkerEnded(worker.End) { a.Notebook.WorkerEnded() }

// member is the notebook of one of several ranks.
type member struct {
	world *world
	rank  int
}

func (m *member) Stream(cell int, name string, text []byte) {
	m.world.fold.stream(m.rank, cell, name, text)
}

// Display shows what rank 0 shows, and counts what others do.
func (m *member) Display(d link.Display) error {
	if d.Kind == "display" {
		m.world.shown.add(m.rank, d.Cell)
	}
	if m.rank > 0 {
		return nil
	}
	return m.world.group.notebook.Display(d)
}

// Comm takes messages from the objects of rank 0.
func (m *member) Comm(c link.Comm) error {
	if m.rank > 0 {
		return nil
	}
	return m.world.group.notebook.Comm(c)
}

func (m *member) Input(ctx context.Context, request link.InputRequest) (link.InputReply, error) {
	if m.rank > 0 {
		return link.InputReply{}, fmt.Errorf("rank %d has no input", m.rank)
	}
	return m.world.group.notebook.Input(ctx, request)
}

func (m *member) Ranks(ctx context.Context, request link.RanksRequest) (link.RanksReply, error) {
	if m.rank > 0 {
		return link.RanksReply{}, nil // rank 0 says it
	}
	return m.world.group.Ranks(ctx, request)
}

func (m *member) Once(ctx context.Context, request link.OnceRequest) (link.OnceReply, error) {
	if m.rank > 0 {
		return m.world.once.wait(ctx, request)
	}
	m.world.once.done(request)
	return link.OnceReply{}, nil
}

func (m *member) WorkerEnded(end worker.End) { m.world.died(m.rank, end) }

// shown counts what each rank has shown in a cell.
type shown struct {
	mu     sync.Mutex
	cell   int
	counts []int // by rank
}

func newShown(ranks int) *shown { return &shown{counts: make([]int, ranks)} }

func (s *shown) begin(cell int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cell = cell
	clear(s.counts)
}

func (s *shown) add(rank, cell int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cell == s.cell {
		s.counts[rank]++
	}
}

// dropped are the ranks that have shown more than rank 0, which the notebook does not
// have.
func (s *shown) dropped() (ranks []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rank, n := range s.counts {
		if n > s.counts[0] {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}
