package accel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// dataParallel is the strategy of a process that works with those of other processes, its
// ranks: each computes a part of every batch.
type dataParallel struct {
	group     *parallel.Group
	gradients *parallel.Gradients // of a training
	user      context.Context     // that of Fit
	ctx       context.Context     // ends some time after it, when others do not answer
	cancel    context.CancelFunc
	stop      func() bool

	placeholder data.Batch // an example for a rank that has none, where it must compute with something

	before parallel.Stats // of the group, before this training
	since  time.Time

	stopping bool // all have agreed to stop
	agreed   bool // all know of the error with which the training ends
}

func newDataParallel(ctx context.Context, group *parallel.Group) *dataParallel {
	r := &dataParallel{group: group, user: ctx}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.stop = context.AfterFunc(ctx, func() { time.AfterFunc(answerTime, r.cancel) })
	return r
}

// answerTime is how long the others may take to agree that training stops.
const answerTime = 5 * time.Second

// end gives up what ranks hold. An error of which the others do not know, or a panic,
// ends the training for all.
func (r *dataParallel) end(err error, returned bool) {
	switch {
	case !returned:
		r.group.Fail(errors.New("the training has panicked"))
	case err != nil && !r.agreed:
		var diverged *DivergedError
		if !errors.As(err, &diverged) { // which all have found at the same step
			r.group.Fail(err)
		}
	}
	r.gradients.End()
	r.stop()
	r.cancel()
}

// lastBatch adds up the gradients over all ranks, and with them what the step measures.
func (r *dataParallel) lastBatch(l *loop, m *measurement, learn func()) error {
	votes := []float64{0}
	if r.user.Err() != nil {
		votes[0] = 1
	}
	sums, err := r.gradients.Exchange(r.ctx, parallel.Exchange{Backward: learn, Sums: m.parts, HostValues: votes})
	if err != nil {
		return fmt.Errorf("accel: DataParallel: %w", err)
	}
	r.stopping = votes[0] > 0
	m.replace(l.precision.requireFinite(sums[0]), sums[1])
	o := r.gradients.Overlap()
	l.run.Time.CommunicationWait, l.run.Time.Communication = o.Waiting, o.Busy
	return nil
}

// loss returns the part of this rank, which may be not finite: all find that in the sum.
func (r *dataParallel) loss(_ *precision, loss *Tensor) *Tensor { return loss }

// idle computes with an example that counts for nothing, where layers measure over all
// ranks and wait for this one.
func (r *dataParallel) idle(l *loop) {
	if !r.gradients.Synchronized() {
		return
	}
	r.gradients.Idle(func() {
		var loss *Tensor
		l.precision.cast(func() { loss = l.loss(l.model.Forward(r.placeholder.X), r.placeholder.Y) })
		l.backward(loss, 0)
		loss.Release()
	})
}

// lost is why the group is broken, nil as long as it is not.
func (r *dataParallel) lost() error {
	if r.group.Err() == nil {
		return nil
	}
	return fmt.Errorf("accel: DataParallel: %w", r.group.Err())
}

// askStop asks all ranks whether to go on at all.
func (r *dataParallel) askStop() (err error) {
	r.stopping, err = r.any(r.user.Err() != nil)
	return err
}

// interrupt returns the error of a training whose context is done, on one rank at least.
func (r *dataParallel) interrupt(ctx context.Context) error {
	if !r.stopping {
		return nil
	}
	r.agreed = true
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("accel: another rank was interrupted: %w", context.Canceled)
}

// interrupted reports whether an error is that of a context that was done.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// begin gives all ranks the weights of rank 0, the order of its examples, and random
// numbers of their own.
func (r *dataParallel) begin(l *loop) error {
	err := r.together(func() error {
		if !r.group.First() {
			return nil
		}
		return touch(r.ctx, l.model, l.set) // layers without parameters get them
	})
	if err != nil {
		return err
	}
	if err := r.gradients.Begin(r.ctx); err != nil {
		var differs *parallel.ModelError
		r.agreed = errors.As(err, &differs)
		return fmt.Errorf("accel: DataParallel: %w", err)
	}
	if r.gradients.Synchronized() {
		if err := r.together(func() error { return r.prepare(l.set) }); err != nil {
			return err
		}
	}
	if tensor.Device() != "cpu" {
		l.run.note("gradients of %d ranks are added up by %s", r.group.Size(), r.group.Backend())
		if r.group.OnDevices() {
			l.run.nccl = r.group.Backend()
		}
	}
	start := sharedStart{Order: l.run.Seed}
	start.Stream, start.Drawn = (*tensor.Generator)(nil).State()
	if err := r.fromFirst(&start); err != nil {
		return err
	}
	l.run.Seed = start.Order
	r.before, r.since = r.group.Stats(), time.Now() // from here on the ranks should keep in step
	(*tensor.Generator)(nil).SetState(start.Stream+uint64(r.group.Rank())*streamStep, start.Drawn)
	return nil
}

// prepare reads the example of a rank that has none.
func (r *dataParallel) prepare(set *data.Dataset) error {
	it := set.First(1).Batches(1)
	it.Next()
	r.placeholder = it.Batch()
	return it.Err()
}

// sharedStart is the random numbers that rank 0 begins with.
type sharedStart struct{ Order, Stream, Drawn uint64 }

// streamStep keeps the seeds of the ranks apart (Weyl's sequence of the golden ratio).
const streamStep = 0x9e3779b97f4a7c15

// settle has all ranks go on alike after the training: with the running means and the
// random numbers of rank 0.
func (r *dataParallel) settle(l *loop) error {
	if err := r.measured(l.model); err != nil {
		return err
	}
	if err := r.compareWaiting(l.run, l.o.accumulate); err != nil {
		return err
	}
	var state sharedStart
	state.Stream, state.Drawn = (*tensor.Generator)(nil).State()
	if err := r.fromFirst(&state); err != nil {
		return err
	}
	(*tensor.Generator)(nil).SetState(state.Stream, state.Drawn)
	return nil
}

// behind is the share of the time above which a rank that the others wait for is noted.
const behind = 0.2

// compareWaiting finds a rank that is slower than the others, which wait for it.
func (r *dataParallel) compareWaiting(run *Run, accumulate int) error {
	waited := make([]float64, r.group.Size())
	waited[r.group.Rank()] = (r.group.Stats().Time - r.before.Time).Seconds() / time.Since(r.since).Seconds()
	if err := r.group.AllReduceFloat64(r.ctx, waited, parallel.Sum); err != nil {
		return fmt.Errorf("accel: DataParallel: %w", err)
	}
	slowest, next := 0, 1
	for rank, share := range waited {
		switch {
		case share < waited[slowest]:
			slowest, next = rank, slowest
		case rank != slowest && (next == slowest || share < waited[next]):
			next = rank
		}
	}
	if waited[next]-waited[slowest] > behind {
		run.note("rank %d is behind: the others waited for it at least %s of the time, and it %s for them", slowest, percent(waited[next]), percent(waited[slowest]))
		return nil
	}
	run.noteExchange(time.Since(r.since), accumulate)
	return nil
}

// exchangeBound is the share of the time waiting for other ranks from which a run of more
// than a second says so, where none of them is to blame.
const exchangeBound = 0.2

// noteExchange says what to do where ranks spend much of their time with each other.
func (r *Run) noteExchange(total time.Duration, accumulate int) {
	if share := r.Time.CommunicationWait.Seconds() / total.Seconds(); share > exchangeBound && total > time.Second {
		r.note("communication-bound: %.0f %% of the time was spent waiting for the gradients of other ranks; a larger BatchSize, or Accumulate(%d), exchanges them less often", 100*share, 2*accumulate)
	}
}

// alone has layers that measure over all ranks measure for themselves from now on: what
// follows is not done by all ranks.
func (r *dataParallel) alone() {
	r.gradients.End()
}

// shard divides batches among the ranks.
func (r *dataParallel) shard() data.Option {
	return data.Shard(r.group.Rank(), r.group.Size())
}

// writes reports whether this process shows and keeps the training.
func (r *dataParallel) writes() bool { return r.group.First() }

// meter shows how many examples of a set have been computed, in the process that shows
// anything.
func (r *dataParallel) meter(ctx context.Context, examples int) *display.Meter {
	if !r.writes() {
		return nil
	}
	meter, _ := display.Measure(ctx, "examples", float64(max(examples/r.group.Size(), 1))) // those of this one stand for all
	return meter
}

// leave gives up what newDataParallel holds. A panic ends the work of the others.
func (r *dataParallel) leave(what string, returned bool) {
	if !returned {
		r.group.Fail(fmt.Errorf("%s has panicked", what))
	}
	r.stop()
	r.cancel()
}
