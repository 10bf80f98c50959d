package accel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// ranks is what a training does together with those of other processes. A nil one is
// of a training in one process.
type ranks struct {
	group     *parallel.Group
	gradients *parallel.Gradients
	user      context.Context // that of Fit
	ctx       context.Context // ends some time after it, when others do not answer
	cancel    context.CancelFunc
	stop      func() bool

	standIn data.Batch // an example for a rank that has none, where it must compute with something

	before parallel.Use // of the group, before this training
	since  time.Time

	stopping bool // all have agreed to stop
	agreed   bool // all know of the error with which the training ends
}

// answerTime is how long the others may take to agree that training stops.
const answerTime = 5 * time.Second

// beginRanks is what the ranks agree on before a training.
func (l *loop) beginRanks(ctx context.Context) error {
	if l.o.group == nil || l.o.group.Size() == 1 {
		return nil
	}
	r := newRanks(ctx, l.o.group)
	r.gradients = parallel.NewGradients(l.o.group, l.model)
	if err := r.compare(l); err != nil {
		r.stop()
		r.cancel()
		return err
	}
	l.ranks, l.run.Ranks = r, r.group.Size()
	if !r.writes() {
		l.o.quiet, l.o.live, l.o.tensorBoard, l.o.track = true, nil, "", ""
	}
	return nil
}

// end gives up what ranks hold. An error of which the others do not know, or a panic,
// ends the training for all.
func (r *ranks) end(err error, returned bool) {
	switch {
	case r == nil:
		return
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

// alone has layers that measure over all ranks measure for themselves from now on: what
// follows is not done by all ranks.
func (r *ranks) alone() {
	if r != nil {
		r.gradients.End()
	}
}

// exchange makes the last part of a step, in which gradients are added up over all
// ranks, and with them what the step measures.
func (l *loop) exchange(m *measurement, learn func()) error {
	r := l.ranks
	if r == nil {
		learn()
		return nil
	}
	votes := []float64{0}
	if r.user.Err() != nil {
		votes[0] = 1
	}
	sums, err := r.gradients.Exchange(r.ctx, parallel.Exchange{Backward: learn, Sums: m.parts, Votes: votes})
	if err != nil {
		return fmt.Errorf("accel: DataParallel: %w", err)
	}
	r.stopping = votes[0] > 0
	m.replace(l.precision.requireFinite(sums[0]), sums[1])
	o := r.gradients.Overlap()
	l.run.Time.Exchanging, l.run.Time.Exchanged = o.Waiting, o.Busy
	return nil
}

// lost is why the group is broken, nil as long as it is not.
func (r *ranks) lost() error {
	if r == nil || r.group.Err() == nil {
		return nil
	}
	return fmt.Errorf("accel: DataParallel: %w", r.group.Err())
}

// askStop asks all ranks whether to go on at all.
func (r *ranks) askStop() (err error) {
	if r != nil {
		r.stopping, err = r.any(r.user.Err() != nil)
	}
	return err
}

// interrupt is the error of a training whose context is done, on one rank at least.
func (r *ranks) interrupt(ctx context.Context) error {
	switch {
	case r == nil:
		return ctx.Err()
	case !r.stopping:
		return nil
	}
	r.agreed = true
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("accel: another rank was interrupted: %w", context.Canceled)
}

// interrupted tells whether an error is that of a context that was done.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// plan is what must be the same on all ranks.
type plan struct {
	Set      string
	Contents contents
	Check    contents // of the set for validation
	Options  []string
}

// different says what is not the same, empty for nothing.
func (p plan) different(other plan) string {
	switch {
	case p.Set != other.Set:
		return fmt.Sprintf("the training set is %s here, and %s on rank 0", p.Set, other.Set)
	case p.Contents.Examples != other.Contents.Examples:
		return fmt.Sprintf("the training set has %d examples here, and %d on rank 0", p.Contents.Examples, other.Contents.Examples)
	case p.Contents != other.Contents:
		return "the training set has other examples than on rank 0, or in another order"
	case fmt.Sprint(p.Options) != fmt.Sprint(other.Options):
		return fmt.Sprintf("the options are %v here, and %v on rank 0", p.Options, other.Options)
	case p.Check != other.Check:
		return "the set for validation has other examples than on rank 0, or in another order"
	}
	return ""
}

// compare fails on all ranks if one of them is about to train something else.
func (r *ranks) compare(l *loop) error {
	mine := plan{Set: l.set.Name(), Options: l.o.shared()}
	err := r.together(func() (err error) {
		if mine.Contents, err = contentsOf(l.set); err == nil && l.o.validate != nil {
			mine.Check, err = contentsOf(l.o.validate)
		}
		return err
	})
	if err != nil {
		return err
	}
	plans, err := gather(r, mine)
	if err != nil {
		return err
	}
	for i, p := range plans {
		if difference := p.different(plans[0]); difference != "" {
			return fmt.Errorf("accel: DataParallel: rank %d was started with something else: %s", i, difference)
		}
	}
	return nil
}

// share gives all ranks the weights of rank 0, the order of its examples, and random
// numbers of their own.
func (r *ranks) share(l *loop) error {
	if r == nil {
		return nil
	}
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
	if r.gradients.Synchronised() {
		if err := r.together(func() error { return r.prepare(l.set) }); err != nil {
			return err
		}
	}
	if tensor.Device() != "cpu" {
		l.run.note("gradients of %d ranks are added up by %s", r.group.Size(), r.group.Through())
		if r.group.OnDevices() {
			l.run.nccl = r.group.Through()
		}
	}
	start := sharedStart{Order: l.run.Seed}
	start.Stream, start.Drawn = (*tensor.Generator)(nil).State()
	if err := r.fromFirst(&start); err != nil {
		return err
	}
	l.run.Seed = start.Order
	r.before, r.since = r.group.Use(), time.Now() // from here on the ranks should keep in step
	(*tensor.Generator)(nil).SetState(start.Stream+uint64(r.group.Rank())*streamStep, start.Drawn)
	return nil
}

// prepare reads the example of a rank that has none.
func (r *ranks) prepare(set *data.Dataset) error {
	it := set.First(1).Batches(1)
	it.Next()
	r.standIn = it.Batch()
	return it.Err()
}

// sharedStart is the random numbers that rank 0 begins with.
type sharedStart struct{ Order, Stream, Drawn uint64 }

// streamStep keeps the seeds of the ranks apart (Weyl's sequence of the golden ratio).
const streamStep = 0x9e3779b97f4a7c15

// fromFirst gives all ranks what rank 0 has.
func (r *ranks) fromFirst(v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		text, err = r.group.Broadcast(r.ctx, 0, text)
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("accel: DataParallel: %w", err)
	}
	return nil
}

// settle has all ranks go on alike after the training: with the running means and the
// random numbers of rank 0.
func (r *ranks) settle(l *loop) error {
	if r == nil {
		return nil
	}
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

// behind is the share of the time from which one rank that the others wait for is told.
const behind = 0.2

// compareWaiting finds a rank that is slower than the others, which wait for it.
func (r *ranks) compareWaiting(run *Run, accumulate int) error {
	waited := make([]float64, r.group.Size())
	waited[r.group.Rank()] = (r.group.Use().Time - r.before.Time).Seconds() / time.Since(r.since).Seconds()
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
	if share := r.Time.Exchanging.Seconds() / total.Seconds(); share > exchangeBound && total > time.Second {
		r.note("communication-bound: %.0f %% of the time was spent waiting for the gradients of other ranks; a larger BatchSize, or Accumulate(%d), exchanges them less often", 100*share, 2*accumulate)
	}
}

// file gives all ranks what the file of rank 0 has; nil notes if there is none.
func (r *ranks) file(tensors map[string]*Tensor, notes map[string]string) (map[string]*Tensor, map[string]string, error) {
	if r == nil {
		return tensors, notes, nil
	}
	if err := r.fromFirst(&notes); err != nil || notes == nil {
		return nil, nil, err
	}
	var named []parallel.Named
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		named = append(named, parallel.Named{Name: name, Tensor: tensors[name]})
	}
	named, err := parallel.ShareTensors(r.ctx, r.group, named)
	if err != nil {
		return nil, nil, fmt.Errorf("accel: DataParallel: %w", err)
	}
	tensors = map[string]*Tensor{}
	for _, t := range named {
		tensors[t.Name] = t.Tensor
	}
	return tensors, notes, nil
}

// together runs a part of the work of which each rank has its own, and fails on all
// ranks if it fails on one. With one process it just runs it.
func (r *ranks) together(f func() error) error {
	err := f()
	if r == nil {
		return err
	}
	text := ""
	if err != nil {
		text = "!" + err.Error()
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			text = "?" + err.Error()
		}
	}
	all, failed := r.group.AllGather(r.ctx, []byte(text))
	if failed != nil {
		return errors.Join(err, failed)
	}
	r.agreed = r.agreed || err != nil
	if err != nil {
		return err
	}
	for rank, t := range all {
		r.agreed = r.agreed || len(t) > 0
		switch {
		case len(t) == 0:
		case t[0] == '?':
			return fmt.Errorf("accel: rank %d was interrupted: %w", rank, context.Canceled)
		default:
			return fmt.Errorf("accel: rank %d has failed: %s", rank, t[1:])
		}
	}
	return nil
}

// any tells whether something is true on one rank at least.
func (r *ranks) any(mine bool) (bool, error) {
	if r == nil {
		return mine, nil
	}
	vote := []float64{0}
	if mine {
		vote[0] = 1
	}
	if err := r.group.AllReduceFloat64(r.ctx, vote, parallel.Sum); err != nil {
		return false, fmt.Errorf("accel: DataParallel: %w", err)
	}
	return vote[0] > 0, nil
}

// shard divides batches among the ranks.
func (r *ranks) shard() data.Option {
	if r == nil {
		return data.Option{}
	}
	return data.Shard(r.group.Rank(), r.group.Size())
}

// writes tells whether this process shows and keeps the training.
func (r *ranks) writes() bool { return r == nil || r.group.First() }

// measured gives all ranks what the layers of rank 0 have measured, the running means of
// BatchNorm: with it they validate one model.
func (r *ranks) measured(model nn.Module) error {
	if r == nil {
		return nil
	}
	var named []parallel.Named
	for _, p := range nn.State(model) {
		if !p.RequiresGrad() {
			named = append(named, parallel.Named{Name: p.Name, Tensor: p.Tensor})
		}
	}
	if len(named) == 0 {
		return nil
	}
	theirs, err := parallel.ShareTensors(r.ctx, r.group, named)
	if err != nil || r.group.First() {
		return err
	}
	tensor.NoGrad(func() {
		for i, t := range theirs {
			named[i].Tensor.Assign(t.Tensor)
		}
	})
	return nil
}

// sumResult adds up what each rank has measured in its part of a set.
func (r *ranks) sumResult(result *Result) error {
	if r == nil {
		return nil
	}
	all, err := r.group.AllGather(r.ctx, fmt.Appendf(nil, "%d", len(result.counts)))
	if err != nil {
		return fmt.Errorf("accel: DataParallel: %w", err)
	}
	size := 0
	for _, text := range all {
		var n int
		if _, err := fmt.Sscan(string(text), &n); err != nil {
			return fmt.Errorf("accel: DataParallel: %w", err)
		}
		size = max(size, n)
	}
	sums := []float64{result.loss, result.accuracy}
	for c := range size {
		for a := range size {
			n := 0.0
			if c < len(result.counts) {
				n = float64(result.counts[c][a])
			}
			sums = append(sums, n)
		}
	}
	if err := r.group.AllReduceFloat64(r.ctx, sums, parallel.Sum); err != nil {
		return fmt.Errorf("accel: DataParallel: %w", err)
	}
	result.loss, result.accuracy = sums[0], sums[1]
	if size > 0 {
		result.counts = make([][]int, size)
		for c := range result.counts {
			result.counts[c] = make([]int, size)
			for a := range result.counts[c] {
				result.counts[c][a] = int(sums[2+c*size+a])
			}
		}
	}
	return nil
}
