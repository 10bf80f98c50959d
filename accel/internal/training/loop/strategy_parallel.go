package loop

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/quantity"
)

// dataParallel is the strategy of one of several ranks, each of which computes a part of every
// batch.
type dataParallel struct {
	*ranks
	training   *history.Training
	record     *history.Recorder
	accumulate int
	gradients  *parallel.Gradients

	zero    int                        // option ZeRO
	divided *parallel.DistributedModel // with ZeRO; nil without
	average *optim.EMA                 // of the whole model; nil without EMA
	part    *optim.EMA                 // with ZeRO 3, the average of this rank's parts; nil without
	isWhole bool                       // the model has been whole since the newest step
	alone   bool                       // this rank computes without the others from now on
	proven  bool                       // a step has been made, so that the forward pass of the model and the loss work

	placeholder data.Batch // an example for a rank that has none in a batch
	start       sharedStart

	usageBefore parallel.Stats // of the group, before this training
	since       time.Time

	stopping bool // all ranks have agreed to stop
}

func newDataParallel(r *ranks, o *Settings, t *history.Training, record *history.Recorder) *dataParallel {
	return &dataParallel{ranks: r, training: t, record: record, accumulate: o.Accumulate, zero: o.ZeRO, average: o.Average, gradients: parallel.NewGradients(r.group, t.Model)}
}

// end releases the resources of this rank. An error that the other ranks do not know of, or a
// panic, ends the training on all ranks.
func (r *dataParallel) end(err error, returned bool) {
	switch {
	case !returned:
		r.group.Fail(errors.Unwrap(err))
	case err != nil && !r.agreed:
		var diverged *history.DivergedError
		if !errors.As(err, &diverged) { // all ranks have found it at the same step
			r.group.Fail(err)
		}
	case err != nil && r.group.Err() == nil && !r.isWhole: // so that the corrected call can use the model
		_ = r.whole() // the error is the reason, in any case
	}
	r.gradients.End()
	r.stop()
	r.cancel()
}

// first runs the forward pass of a batch. In the first step all ranks learn whether it fails on one of them, unless they have to
// exchange something within it: an error that all have, such as that of a loss for other labels, leaves the group usable.
func (r *dataParallel) first(forward forwardPass) (backward func(), err error) {
	if r.proven || r.waits() {
		return forward()
	}
	err = r.runOnAll(func() (err error) {
		defer nn.Catch(&err)
		backward, err = forward()
		return err
	})
	return backward, err
}

// batch computes the gradients of a batch on this rank.
func (r *dataParallel) batch(forward forwardPass) error {
	backward, err := r.first(forward)
	if err == nil {
		backward()
	}
	return err
}

// lastBatch adds the gradients and the measurements of the step over all ranks.
func (r *dataParallel) lastBatch(p *precision, m *measurement, forward forwardPass) error {
	var failed error
	learn := func() {
		var backward func()
		if backward, failed = forward(); failed == nil {
			backward()
		}
	}
	if !r.proven && !r.waits() {
		backward, err := r.first(forward)
		if err != nil {
			return err
		}
		learn = backward
	}
	votes := []float64{0, 0} // whether a rank was interrupted, and whether one has a divisor of its loss
	if r.mustStop() {
		votes[0] = 1
	}
	learnAndVote := func() {
		if r.failOn(learn); m.divisors != nil {
			votes[1] = 1
		}
	}
	exchange := r.gradients.Exchange
	if r.divided != nil {
		exchange = r.divided.Exchange
	}
	sums, err := exchange(r.ctx, parallel.Exchange{Backward: learnAndVote, Sums: m.parts, HostValues: votes})
	if err != nil {
		return r.collectiveError(err)
	}
	if failed != nil {
		return failed
	}
	r.proven = true
	r.stopping = votes[0] > 0
	sums[0] = p.requireFinite(sums[0])
	m.replace(sums, r.training.Dataset.Ignores(), votes[1] > 0)
	o := r.gradients.Overlap()
	time := &r.training.Run.Time
	time.CommunicationWait, time.Communication = o.Waiting, o.Busy
	return nil
}

// failOn runs learn. If that panics with an error of package tensor, the group fails with it.
func (r *dataParallel) failOn(learn func()) {
	var err error
	func() {
		defer nn.Catch(&err)
		learn()
	}()
	if err == nil {
		return
	}
	if r.group.Err() == nil { // otherwise another rank is the cause
		r.failure = err
		r.group.Fail(err)
	}
	panic(err)
}

// loss returns the loss of this rank, which may be not finite: all ranks notice that in the
// sum.
func (r *dataParallel) loss(_ *precision, loss *tensor.Tensor) *tensor.Tensor { return loss }

// idle runs a placeholder with weight zero, if layers such as SyncBatchNorm on other ranks wait
// for this rank.
func (r *dataParallel) idle(learn func(data.Batch)) {
	if r.waits() {
		r.gradients.Idle(func() { learn(r.placeholder) })
	}
}

// waits reports whether the other ranks wait for this one in each pass.
func (r *dataParallel) waits() bool { return r.gradients.Synchronized() || r.zero == 3 }

func (r *dataParallel) updates(model nn.Module) nn.Module {
	if r.divided == nil || r.alone {
		return model
	}
	return r.divided
}

// updated gives the model the parameters that the other ranks have updated. ZeRO 3 gathers them, and the average, when they
// are needed.
func (r *dataParallel) updated(average *optim.EMA) error {
	if r.part != nil {
		r.part.Update()
		return nil
	}
	if r.zero == 3 {
		return nil
	}
	err := r.whole()
	if err == nil && average != nil {
		average.Update()
	}
	return err
}

// whole gives the model all of its parameters, and the average all of its values.
func (r *dataParallel) whole() error {
	if r.divided == nil {
		return nil
	}
	err := r.divided.Gather(r.ctx)
	if err == nil && r.part != nil {
		var all optim.State
		if all, err = r.divided.GatherState(r.ctx, optim.State{Tensors: r.part.State()}); err == nil {
			err = r.average.SetState(all.Tensors)
		}
	}
	if err != nil {
		return r.collectiveError(err)
	}
	r.isWhole = true
	return nil
}

// wholeState gathers the state of the optimizer with ZeRO.
func (r *dataParallel) wholeState(o *optim.Optimizer) (s optim.State, err error) {
	if r.divided == nil {
		if r.writes() {
			s = o.State()
		}
		return s, nil
	}
	if err := r.whole(); err != nil {
		return s, err
	}
	if s, err = r.divided.GatherState(r.ctx, o.State()); err != nil {
		return s, r.collectiveError(err)
	}
	return s, nil
}

func (r *dataParallel) inStep() bool { return r.agreed || r.zero == 0 }

// divide divides the training among the ranks.
func (r *dataParallel) divide() error {
	mesh, err := parallel.Mesh(r.ctx, r.group, r.group.Size(), 1, 1)
	if err == nil {
		r.divided, err = parallel.Distribute(r.ctx, mesh, r.training.Model, parallel.ZeRO(r.zero))
	}
	if err != nil {
		r.agreed = r.group.Err() == nil
		return r.collectiveError(err)
	}
	if r.zero == 3 && r.average != nil {
		r.part = r.average.Like(r.divided)
		if err := r.part.SetState(r.divided.DivideState(optim.State{Tensors: r.average.State()}).Tensors); err != nil {
			return err
		}
	}
	r.record.Note("ZeRO %d: %d ranks divide %s", r.zero, r.group.Size(), []string{"the state of the optimizer", "the state of the optimizer and the gradients", "the state of the optimizer, the gradients and the parameters"}[r.zero-1])
	return nil
}

func (r *dataParallel) askStop() (err error) {
	r.stopping, err = r.anyRank(r.mustStop())
	return err
}

// mustStop reports whether this rank was interrupted, or knows that the ranks of an elastic group change.
func (r *dataParallel) mustStop() bool { return r.fitContext.Err() != nil || r.group.Changing() }

// interrupt returns the error of a training whose context is done on at least one rank, or whose ranks change.
func (r *dataParallel) interrupt(ctx context.Context) error {
	if !r.stopping {
		return nil
	}
	r.agreed = true
	if err := r.whole(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.group.Changing() {
		return fmt.Errorf("accel: DataParallel: %w: %w", parallel.ErrChanging, context.Canceled)
	}
	return fmt.Errorf("accel: another rank was interrupted: %w", context.Canceled)
}

// begin gives all ranks the weights of rank 0 and the order of its examples.
func (r *dataParallel) begin() error {
	t := r.training
	err := r.runOnAll(func() error {
		if !r.group.First() {
			return nil
		}
		return Touch(r.ctx, t.Model, t.Dataset) // creates the parameters of layers that have none yet
	})
	if err != nil {
		return err
	}
	if err := r.gradients.Begin(r.ctx); err != nil {
		var differs *parallel.ModelError
		r.agreed = errors.As(err, &differs)
		return r.collectiveError(err)
	}
	if r.waits() {
		if err := r.runOnAll(func() error { return r.prepare(t.Dataset) }); err != nil {
			return err
		}
	}
	if r.zero > 0 {
		if err := r.divide(); err != nil {
			return err
		}
	}
	if tensors.Device() != "cpu" {
		r.record.Note("the gradients of %d ranks are added by %s", r.group.Size(), r.group.Backend())
		if r.group.OnDevices() {
			r.record.Reduction(r.group.Backend())
		}
	}
	r.start.Order = t.Run.Seed
	r.start.Stream, r.start.Drawn = (*tensor.Generator)(nil).State()
	starts, err := gather(r.ranks, r.start)
	if err != nil {
		return err
	}
	r.start = starts[0]
	t.Run.Seed = r.start.Order
	r.usageBefore, r.since = r.group.Stats(), time.Now() // from here on the ranks should run in step
	return nil
}

// beforeStep gives each rank its random numbers of the step. They do not depend on how many numbers the rank has drawn before,
// which the file of Resume does not contain: a training that is resumed draws the same ones.
func (r *dataParallel) beforeStep(number int) {
	r.step = number
	if r.isWhole = false; r.part != nil {
		_ = r.average.SetState(nil) // cannot fail; frees the values
	}
	rank := uint64(r.group.Rank())
	(*tensor.Generator)(nil).SetState(r.start.Stream+rank*streamStep, r.start.Drawn+uint64(number)*numbersPerStep)
}

func (r *dataParallel) random() (stream, drawn uint64) { return r.start.Stream, r.start.Drawn }

// sharedTime is how long a network file system may take until all ranks see a new file.
const sharedTime = 30 * time.Second

// shareFile fails on all ranks of an elastic group unless all see the file that rank 0 sees: any of them may be rank 0 of the
// next group.
func (r *dataParallel) shareFile(path string) error {
	first, err := uint32(0), error(nil)
	if r.group.First() {
		first, err = beginning(path)
	}
	if err := r.runOnAll(func() error { return err }); err != nil {
		return err
	}
	sums, err := gather(r.ranks, first)
	if err != nil {
		return err
	}
	return r.runOnAll(func() error {
		for begin := time.Now(); ; time.Sleep(sharedTime / 100) {
			mine, err := beginning(path)
			if err == nil && mine == sums[0] {
				return nil
			}
			if r.ctx.Err() != nil || time.Since(begin) > sharedTime {
				return fmt.Errorf("accel: Resume(%q): rank %d does not see the file that rank 0 has written there: the ranks of an elastic group change, so use a path that all of them share", path, r.group.Rank())
			}
		}
	})
}

// beginning returns the checksum of the first bytes of a file.
func beginning(path string) (uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return crc32.Checksum(text, castagnoli), err
}

// prepare reads the placeholder.
func (r *dataParallel) prepare(set *data.Dataset) error {
	it := set.First(1).Batches(1)
	it.Next()
	r.placeholder = it.Batch()
	return it.Err()
}

// sharedStart is the state of rank 0's random numbers before the first step.
type sharedStart struct{ Order, Stream, Drawn uint64 }

// numbersPerStep is more than a rank draws in a step.
const numbersPerStep = 1 << 40

// streamStep keeps the seeds of the ranks apart (Weyl's sequence of the golden ratio).
const streamStep = 0x9e3779b97f4a7c15

// finish gives all ranks the running means and the state of the random numbers of rank 0 after the
// training.
func (r *dataParallel) finish() error {
	if err := r.whole(); err != nil {
		return err
	}
	r.step = 0
	if err := r.broadcastBuffers(r.training.Model); err != nil {
		return err
	}
	if err := r.compareWaiting(); err != nil {
		return err
	}
	// Random numbers go on behind those of the last step, unless no layer draws any: then as in one process.
	next := r.start
	if _, drawn := (*tensor.Generator)(nil).State(); (drawn-r.start.Drawn)%numbersPerStep != 0 {
		next.Drawn += uint64(len(r.training.Run.Steps)+1) * numbersPerStep
	}
	all, err := gather(r.ranks, next)
	if err != nil {
		return err
	}
	(*tensor.Generator)(nil).SetState(all[0].Stream, all[0].Drawn)
	return nil
}

// slowRankShare is the share of time waiting for one rank above which that rank gets a note.
const slowRankShare = 0.2

// compareWaiting finds a rank that is slower than the others, which wait for it.
func (r *dataParallel) compareWaiting() error {
	if r.group.Size() == 1 { // of an elastic group
		return nil
	}
	waited := make([]float64, r.group.Size())
	waited[r.group.Rank()] = (r.group.Stats().Time - r.usageBefore.Time).Seconds() / time.Since(r.since).Seconds()
	if err := r.group.AllReduceFloat64(r.ctx, waited, parallel.Sum); err != nil {
		return r.collectiveError(err)
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
	if waited[next]-waited[slowest] > slowRankShare {
		r.record.Note("rank %d on %s is slow: the other ranks waited for it at least %s of the time, and it waited %s of the time for them", slowest, r.group.Host(slowest), quantity.Percent(waited[next]), quantity.Percent(waited[slowest]))
		return nil
	}
	noteCommunication(r.record, time.Since(r.since), r.accumulate)
	return nil
}

// communicationBound is the share of time waiting for other ranks above which a run of more
// than a second gets a note, if no rank is slower than the others.
const communicationBound = 0.2

// noteCommunication adds a note on what to do if ranks spend much of their time communicating.
func noteCommunication(r *history.Recorder, total time.Duration, accumulate int) {
	if share := r.Run().Time.CommunicationWait.Seconds() / total.Seconds(); share > communicationBound && total > time.Second {
		r.Note("communication-bound: %.0f %% of the time was spent waiting for the gradients of other ranks; a larger BatchSize, or Accumulate(%d), communicates less often", 100*share, 2*accumulate)
	}
}

func (r *dataParallel) stopSynchronizing() {
	r.gradients.End()
	r.alone = true
}
