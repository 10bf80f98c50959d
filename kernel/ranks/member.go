package ranks

import (
	"context"
	"fmt"
	"sync"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// singleNotebook is the notebook of the only rank.
type singleNotebook struct {
	Notebook
	group *Group
}

func (a singleNotebook) Ranks(ctx context.Context, request link.RanksRequest) (link.RanksReply, error) {
	return a.group.Ranks(ctx, request)
}

func (a singleNotebook) Once(context.Context, link.OnceRequest) (link.OnceReply, error) {
	return link.OnceReply{}, nil // there are no other ranks
}

func (a singleNotebook) WorkerEnded(end worker.End) {
	var why *link.CellError
	if end.Idle && end.Ready {
		why = &link.CellError{Name: worker.Died, Value: end.Reason, Traceback: []string{worker.Died + ": " + end.Reason}}
	}
	a.Notebook.WorkerEnded(why)
}

// rankNotebook is the notebook of one of several ranks.
type rankNotebook struct {
	gen  *generation
	rank int
}

func (m *rankNotebook) Stream(cell int, name string, text []byte) {
	m.gen.merger.stream(m.rank, cell, name, text)
}

// Display shows the displays of rank 0 and counts those of the others.
func (m *rankNotebook) Display(d link.Display) error {
	if d.Kind == "display" {
		m.gen.shown.add(m.rank, d.Cell)
	}
	if m.rank > 0 {
		return nil
	}
	return m.gen.group.notebook.Display(d)
}

// Comm passes on messages from the objects of rank 0.
func (m *rankNotebook) Comm(c link.Comm) error {
	if m.rank > 0 {
		return nil
	}
	return m.gen.group.notebook.Comm(c)
}

func (m *rankNotebook) Input(ctx context.Context, request link.InputRequest) (link.InputReply, error) {
	if m.rank > 0 {
		return link.InputReply{}, fmt.Errorf("rank %d has no input: only rank 0 reads input", m.rank)
	}
	return m.gen.group.notebook.Input(ctx, request)
}

func (m *rankNotebook) Ranks(ctx context.Context, request link.RanksRequest) (link.RanksReply, error) {
	if m.rank > 0 {
		return link.RanksReply{}, nil // rank 0 shows it
	}
	return m.gen.group.Ranks(ctx, request)
}

func (m *rankNotebook) Once(ctx context.Context, request link.OnceRequest) (link.OnceReply, error) {
	if m.rank > 0 {
		return m.gen.once.wait(ctx, request)
	}
	m.gen.once.done(request)
	return link.OnceReply{}, nil
}

func (m *rankNotebook) WorkerEnded(end worker.End) { m.gen.died(m.rank, end) }

// shown counts the displays of each rank in a cell.
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

// dropped returns the ranks with more displays than rank 0, which are not in the
// notebook.
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
