package ranks

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/kernel/link"
)

// agreementTime is how long the other ranks may take to finish after a cell has failed on
// one. Then they are interrupted, since they may be waiting for that one.
const agreementTime = 200 * time.Millisecond

// answer is the outcome of a cell on one rank.
type answer struct {
	rank    int
	result  link.Result
	err     error // if the worker could not answer
	stopped bool  // the rank answered after it was interrupted here
}

func (a answer) failed() bool { return a.err != nil || a.result.Error != nil }

// execute runs a cell on all ranks.
func (gen *generation) execute(ctx context.Context, request link.Execute) (link.Result, error) {
	if gen.ranks == 1 {
		return gen.members[0].Execute(ctx, request)
	}
	if !request.Silent {
		if reply, err := gen.panicked(ctx, link.Panic{Next: true}); err == nil && reply.Error != nil {
			return link.Result{Error: reply.Error}, nil
		}
	}
	gen.once.begin(request.Cell)
	gen.shown.begin(request.Cell)
	if request.Interrupted == nil {
		request.Interrupted = &atomic.Bool{}
	}
	answers := make(chan answer, gen.ranks)
	for rank, m := range gen.members {
		go func() {
			result, err := m.Execute(ctx, request)
			a := answer{rank: rank, result: result, err: err}
			if rank == 0 && !a.failed() {
				gen.once.end()
			}
			answers <- a
		}()
	}
	all := gen.collect(ctx, request.Interrupted, answers)
	if ranks := gen.shown.dropped(); len(ranks) > 0 {
		gen.merger.note(request.Cell, ranks, "this rank's displays are not shown: the notebook shows the displays of rank 0")
	}
	gen.merger.end(request.Cell)
	for _, a := range all {
		if a.err != nil {
			gen.group.terminate(gen)
		}
	}
	return gen.combine(all), nil
}

// panicked asks all ranks for a panic of a goroutine that has not failed a cell. If a rank alone
// failed the next cell, the others would run it.
func (gen *generation) panicked(ctx context.Context, request link.Panic) (link.PanicReply, error) {
	if gen.ranks == 1 {
		return link.Ask(ctx, gen.members[0], request)
	}
	replies := make([]link.PanicReply, gen.ranks)
	var calls sync.WaitGroup
	errs := make([]error, gen.ranks)
	for rank, m := range gen.members {
		calls.Go(func() { replies[rank], errs[rank] = link.Ask(ctx, m, request) })
	}
	calls.Wait()
	var causes []cause
	for rank, reply := range replies {
		if reply.Error != nil {
			causes = add(causes, rank, reply.Error)
		}
	}
	if len(causes) == 0 {
		return link.PanicReply{}, errors.Join(errs...)
	}
	return link.PanicReply{Error: gen.failedBecause(causes, nil, nil)}, nil
}

// collect waits for the answers of all ranks and returns them in the order of arrival. If
// the cell fails on one rank, it interrupts the others after agreementTime.
func (gen *generation) collect(ctx context.Context, interrupted *atomic.Bool, answers <-chan answer) (all []answer) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var agreed <-chan time.Time
	answered, stopped := make([]bool, gen.ranks), false
	for len(all) < gen.ranks {
		select {
		case a := <-answers:
			a.stopped = stopped
			answered[a.rank] = true
			all = append(all, a)
			if a.failed() && agreed == nil {
				timer := time.NewTimer(gen.group.agreementTime)
				defer timer.Stop()
				agreed = timer.C
			}
		case <-agreed:
			stopped = true
			interrupted.Store(true) // a rank that has not begun the cell does not begin it
			gen.flush()
			for rank, m := range gen.members {
				// A second interrupt would make a rank give up a training that is about to end.
				if !answered[rank] && !m.Interrupted() {
					go gen.interrupt(ctx, m.Interrupter()) // returns at the latest when the cell ends
				}
			}
		}
	}
	return all
}

func (gen *generation) interrupt(ctx context.Context, stop func(context.Context) error) {
	if err := stop(ctx); err != nil && !errors.Is(err, context.Canceled) {
		gen.group.log.Warn("interrupt of a rank", "error", err)
	}
}

// why returns the error of a failed cell; a failed request to the worker counts as one
// too.
func (a answer) why() *link.CellError {
	if a.err != nil {
		return link.CellErrorOf(a.err)
	}
	return a.result.Error
}
