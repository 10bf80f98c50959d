package ranks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// agreement is how long the other ranks have to come to the same end when a cell has
// failed on one. Then they are interrupted: they may wait for that one.
const agreement = 200 * time.Millisecond

// answer is what a cell came to on one rank.
type answer struct {
	rank    int
	result  link.Result
	err     error // the worker could not answer
	stopped bool  // it came after we had interrupted it
}

func (a answer) failed() bool { return a.err != nil || a.result.Error != nil }

// execute runs a cell on all ranks.
func (w *world) execute(ctx context.Context, request link.Execute) (link.Result, error) {
	if w.ranks == 1 {
		return w.members[0].Execute(ctx, request)
	}
	w.once.begin(request.Cell)
	w.shown.begin(request.Cell)
	answers := make(chan answer, w.ranks)
	for rank, m := range w.members {
		go func() {
			result, err := m.Execute(ctx, request)
			if rank == 0 {
				w.once.end()
			}
			answers <- answer{rank: rank, result: result, err: err}
		}()
	}
	all := w.collect(ctx, answers)
	if ranks := w.shown.dropped(); len(ranks) > 0 {
		w.fold.note(request.Cell, ranks, "what is displayed here is not shown: the notebook shows the displays of rank 0")
	}
	w.fold.end(request.Cell)
	for _, a := range all {
		if a.err != nil {
			w.group.condemn(w)
		}
	}
	return w.verdict(all), nil
}

// collect waits for the answers of all ranks, and brings them about when one fails.
// They are in the order in which they came.
func (w *world) collect(ctx context.Context, answers <-chan answer) (all []answer) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var agreed <-chan time.Time
	answered, stopped := make([]bool, w.ranks), false
	for len(all) < w.ranks {
		select {
		case a := <-answers:
			a.stopped = stopped
			answered[a.rank] = true
			all = append(all, a)
			if a.failed() && agreed == nil {
				timer := time.NewTimer(agreement)
				defer timer.Stop()
				agreed = timer.C
			}
		case <-agreed:
			stopped = true
			w.hurry()
			for rank, m := range w.members {
				if !answered[rank] {
					go w.interrupt(ctx, m) // ends with the cell
				}
			}
		}
	}
	return all
}

func (w *world) interrupt(ctx context.Context, m *worker.Supervisor) {
	if err := m.Interrupt(ctx); err != nil && !errors.Is(err, context.Canceled) {
		w.group.log.Warn("interrupt of a rank", "error", err)
	}
}

// why is why a cell failed on a rank; an error of the link is one, too.
func (a answer) why() *link.CellError {
	var cell *link.CellError
	switch {
	case errors.As(a.err, &cell):
		return cell
	case a.err != nil:
		text := fmt.Sprintf("worker error: %v", a.err)
		return &link.CellError{Name: "worker error", Value: a.err.Error(), Traceback: []string{text}}
	}
	return a.result.Error
}
