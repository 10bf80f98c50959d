package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// fitting is one call of [Fit].
type fitting struct {
	o      *options
	model  nn.Module
	set    *data.Dataset
	loss   func(prediction, target *Tensor) *Tensor
	run    *Run
	screen *screen
	ranks  *ranks     // that train together; nil for one process
	logs   []recorder // what the run is written to while it goes on

	optimizer *optim.Optimizer
	schedule  optim.Schedule
	rate      float64 // before the schedule
	began     time.Time

	scaler   *optim.GradScaler // of the loss; nil unless gradients are float16
	advanced int               // steps that are not known to be skipped: where the schedule is

	epoch      int           // from 1
	seen       int           // examples of this epoch
	first      int           // steps before this epoch
	sum        sums          // of this epoch
	epochBegan time.Time     // this epoch, less the time of pauses
	spent      time.Duration // on this epoch before the training was resumed
	resumed    bool          // and the epoch goes on from there
	pending    *measurement  // of the newest step, not yet read
	unseen     error         // what the first batch showed: parameters that no optimiser changes
	looked     bool          // at the first batch
	last       attempt       // of the newest step
	indices    [2][]int      // of the examples of the step before and of the newest
	best       weights       // of the best check, kept for EarlyStopping; none before
}

func newFitting(model nn.Module, train *data.Dataset, o *options, run *Run) *fitting {
	f := &fitting{o: o, model: model, set: train, loss: o.loss, run: run, schedule: optim.Constant()}
	if f.loss == nil {
		f.loss = defaultLoss(train)
	}
	planned := o.epochs * quotient(quotient(train.Len(), o.batchSize), o.accumulate)
	if o.steps > 0 && (planned == 0 || o.steps < planned) {
		planned = o.steps
	}
	if o.schedule != nil {
		f.schedule = o.schedule(planned)
	}
	f.optimizer = o.optimizer(model, o.numbers...)
	f.rate = f.optimizer.LearningRate()
	if o.absoluteRates {
		f.rate = 1
	}
	seed, _ := (*tensor.Generator)(nil).State()
	*run = Run{
		Dataset: train.Name(), Options: o.texts(), outputs: o.outputs(), Seed: nextSeed(), Best: -1, streamSeed: seed, device: tensor.Device(),
		planned: planned, metrics: o.live, classes: train.Targets() == 0, Ranks: 1,
	}
	f.beginAMP()
	return f
}

// quotient is n/size, rounded up.
func quotient(n, size int) int { return (n-1)/size + 1 }

func defaultLoss(s *data.Dataset) func(prediction, target *Tensor) *Tensor {
	if s.Targets() > 0 {
		return nn.MSE
	}
	return nn.CrossEntropy
}

// errStop ends training as EarlyStopping has planned it.
var errStop = errors.New("stop")

// train makes the epochs.
func (f *fitting) train(ctx context.Context) (err error) {
	defer nn.Catch(&err)
	if err := f.o.precision.refuse(); err != nil {
		return err
	}
	if err := f.resume(); err != nil {
		return err
	}
	if err := f.ranks.share(f); err != nil {
		return err
	}
	if f.logs, err = f.o.recorders(f.run, time.Now()); err != nil {
		return err
	}
	nn.Train(f.model, true)
	f.run.began = time.Now()
	f.began = f.run.began.Add(-f.run.Time.Total)
	for len(f.run.Steps) < f.run.planned && !f.outOfPatience() || f.unfinished() {
		if err := f.oneEpoch(ctx); errors.Is(err, errStop) {
			return f.ranks.settle(f)
		} else if err != nil {
			return err
		}
	}
	return f.ranks.settle(f)
}

// oneEpoch makes one pass over the set, or a part of it, and enters it into
// the run.
func (f *fitting) oneEpoch(ctx context.Context) error {
	f.epochBegan = time.Now()
	f.run.epochStarts = append(f.run.epochStarts, f.epochBegan)
	if f.unfinished() {
		f.epochBegan = f.epochBegan.Add(-f.spent)
	} else {
		f.epoch++
		f.seen, f.first, f.sum = 0, len(f.run.Steps), sums{}
	}
	f.resumed = false
	// Batches do not end with ctx, which is looked at between steps: a step is
	// made as a whole or not at all.
	batches := f.set.Batches(f.o.batchSize, data.Context(context.WithoutCancel(ctx)), data.Workers(f.o.workers),
		data.Shuffle(f.run.Seed), data.Epoch(f.epoch), data.Skip(f.seen/f.o.batchSize), f.ranks.shard())
	err := f.pass(ctx, batches)
	f.run.Time.Waiting += batches.Waited()
	planned := err == nil || errors.Is(err, errStop)
	whole := planned && f.seen == f.set.Len()
	if !whole && (planned || interrupted(err)) {
		err = errors.Join(err, f.save()) // to go on within the epoch
	}
	if len(f.run.Steps) > f.first {
		f.run.Epochs = append(f.run.Epochs, Epoch{
			Steps: len(f.run.Steps), Loss: f.sum.loss(), Accuracy: f.sum.accuracy(), Seconds: time.Since(f.epochBegan).Seconds(),
			began: f.run.epochStarts[len(f.run.epochStarts)-1], ended: time.Now(),
		})
	}
	if whole {
		err = errors.Join(err, f.save())
	}
	return err
}

// unfinished tells whether a training that is resumed was left in the midst of
// an epoch, or before the validation at its end.
func (f *fitting) unfinished() bool {
	return f.resumed && f.epoch > 0 && len(f.run.Epochs) < f.epoch
}

// pass makes the steps and validations of one epoch.
func (f *fitting) pass(ctx context.Context, batches *data.Batches) error {
	if err := f.checkDue(ctx); err != nil { // the one that an interrupt prevented
		return err
	}
	if err := f.ranks.askStop(); err != nil {
		return err
	}
	for f.seen < f.set.Len() && f.made() < f.run.planned {
		if err := f.ranks.interrupt(ctx); err != nil {
			return errors.Join(f.diverged(f.settle(nil)), err)
		}
		examples := min(f.o.batchSize*f.o.accumulate, f.set.Len()-f.seen)
		m, err := f.step(batches, examples)
		if err != nil {
			if before := f.settle(nil); before != nil {
				return f.diverged(before) // what a device finds late is of the step before
			}
			return f.diverged(err)
		}
		f.seen += examples
		if err := f.settle(m); err != nil {
			return f.diverged(err)
		}
		if stop, err := f.stopWhen(); err != nil {
			return err
		} else if stop {
			return errors.Join(f.diverged(f.settle(nil)), errStop)
		}
		if err := f.checkDue(ctx); err != nil {
			return err
		}
		if f.o.saveEvery > 0 && f.made()%f.o.saveEvery == 0 {
			if err := f.settle(nil); err != nil {
				return f.diverged(err)
			}
			if err := f.save(); err != nil {
				return err
			}
		}
	}
	if err := f.settle(nil); err != nil {
		return f.diverged(err)
	}
	ended := len(f.run.Steps) == f.run.planned
	if f.o.validate != nil && !f.checked() && (f.o.evalEvery == 0 || ended) {
		return f.check(ctx)
	}
	return nil
}

// checkDue validates after the steps that [EvalEvery] names.
func (f *fitting) checkDue(ctx context.Context) error {
	made := f.made()
	if f.o.evalEvery == 0 || f.o.validate == nil || made == 0 || made%f.o.evalEvery > 0 || f.pending == nil && f.checked() {
		return nil
	}
	return f.check(ctx)
}

// made is the number of updates, with the one whose loss is not yet read.
func (f *fitting) made() int {
	n := len(f.run.Steps)
	if f.pending != nil {
		n++
	}
	return n
}

// checked tells whether the newest step has been validated.
func (f *fitting) checked() bool {
	n := len(f.run.Checks)
	return n > 0 && f.run.Checks[n-1].Step == len(f.run.Steps)
}

// step makes one update from the next batches, which together have this many
// examples. Each batch weighs as much as it has examples, so that the gradient
// is that of the one large batch.
func (f *fitting) step(batches *data.Batches, examples int) (m *measurement, err error) {
	defer nn.Catch(&err)
	defer trace.Range(func() string { return fmt.Sprintf("step %d", f.made()+1) })()
	m = &measurement{epoch: f.epoch, examples: examples}
	f.indices = [2][]int{f.indices[1], nil}
	f.optimizer.ZeroGrad()
	for done := 0; done < examples; {
		if !batches.Next() {
			if err := batches.Err(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("accel: %s ended after %d of %d examples", f.set.Name(), done, examples)
		}
		b := batches.Batch()
		if done += b.Whole; done < examples {
			f.learn(m, b)
		} else if err := f.exchange(m, func() { f.learn(m, b) }); err != nil {
			return nil, err
		}
	}
	if f.unseen != nil {
		return nil, f.unseen
	}
	m.rate = f.rate * f.schedule.Factor(f.advanced)
	f.optimizer.SetLearningRate(m.rate)
	if f.scaler != nil {
		f.scaler.Step(f.optimizer)
		m.lossScale, m.made = f.scaler.Last()
	} else {
		f.optimizer.Step()
	}
	f.advanced++
	for _, after := range f.o.afterStep {
		if err := after(f.advanced); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// learn adds the gradient of a batch to that of the step.
func (f *fitting) learn(m *measurement, b data.Batch) {
	if b.Len() == 0 {
		f.idle()
		return
	}
	f.last.begin(b)
	f.indices[1] = append(f.indices[1], b.Index...)
	var prediction, loss *Tensor
	f.o.cast(func() {
		mixture := f.o.mix(&b)
		prediction = f.model.Forward(b.X)
		f.look(prediction)
		loss = mixture.loss(f.loss, prediction, b.Y)
		if f.ranks == nil {
			loss = f.watch(loss)
		}
	})
	m.add(loss, prediction, b, f.run.classes)
	f.backward(loss, float64(b.Len())/float64(m.examples))
}

// idle takes part in a batch of which this rank has no examples, where layers measure
// over all ranks and wait for it: with an example that counts for nothing.
func (f *fitting) idle() {
	r := f.ranks
	if r == nil || !r.gradients.Synchronised() {
		return
	}
	r.gradients.Idle(func() {
		var loss *Tensor
		f.o.cast(func() { loss = f.loss(f.model.Forward(r.standIn.X), r.standIn.Y) })
		f.backward(loss, 0)
		loss.Release()
	})
}

// watch has the step fail whose loss is no number, unless the scaler skips such steps.
func (f *fitting) watch(loss *Tensor) *Tensor {
	if f.scaler != nil {
		return loss
	}
	watched := loss.RequireFinite("loss")
	loss.Release()
	return watched
}

// backward adds the gradient of a share of the step's loss.
func (f *fitting) backward(loss *Tensor, share float64) {
	part := loss
	if share < 1 {
		part = part.MulScalar(share)
	}
	if f.scaler != nil {
		part = f.scaler.Scale(part)
	}
	part.Backward()
	if part != loss {
		part.Release()
	}
	if share < 1 {
		tensor.Flush() // else the activations of all batches would be in memory at once
	}
}

// settle reads what the step before measured and remembers the newest: a
// device that works on its own is not waited for until it has more to do.
func (f *fitting) settle(newest *measurement) (err error) {
	defer nn.Catch(&err)
	m := f.pending
	f.pending = newest
	if m == nil {
		return nil
	}
	loss, right := m.read()
	if err := f.ranks.lost(); err != nil { // what a GPU was still adding up is nothing then
		return err
	}
	if m.skipped {
		f.advanced--
	}
	finite := !notANumber(loss)
	if finite || !m.skipped {
		f.sum.add(loss, right, m.examples)
	}
	f.run.Steps = append(f.run.Steps, Step{
		Epoch: m.epoch, Loss: loss, Accuracy: right / float64(m.examples),
		LearningRate: m.rate, Seconds: time.Since(f.began).Seconds(), Skipped: m.skipped, LossScale: m.scale,
	})
	f.run.Examples += m.examples
	f.screen.offer(f.run)
	f.log()
	if !finite && (!m.skipped || m.scale < leastScale) {
		f.pending = nil
		return f.findCause(&DivergedError{Step: len(f.run.Steps), Loss: loss})
	}
	return nil
}

// check validates the model, and says with errStop that it has been patient
// enough.
func (f *fitting) check(ctx context.Context) error {
	if err := f.settle(nil); err != nil {
		return f.diverged(err)
	}
	begin := time.Now()
	var result *Result
	var err error
	if err := f.ranks.measured(f.model); err != nil {
		return err
	}
	f.o.cast(func() { result, err = evaluate(ctx, f.model, f.o.validate, f.loss, f.ranks, nil) })
	f.run.Time.Validating += time.Since(begin)
	if err != nil {
		return err
	}
	newest := Check{Step: len(f.run.Steps), Epoch: f.epoch, Loss: result.Loss(), Accuracy: result.Accuracy()}
	f.run.Checks = append(f.run.Checks, newest)
	at := len(f.run.Checks) - 1
	if f.run.Best < 0 || better(newest.Loss, f.run.Checks[f.run.Best].Loss) {
		f.run.Best = at
		if f.o.patience > 0 {
			f.best = copyWeights(f.model)
		}
	}
	f.watchChecks(f.run.Checks[at:])
	f.log()
	f.screen.offer(f.run)
	stop, err := f.stopWhen()
	if err == nil && (stop || f.outOfPatience()) {
		return errStop
	}
	return err
}

// stopWhen asks the function of [StopWhen], of all ranks.
func (f *fitting) stopWhen() (bool, error) {
	if f.o.stop == nil {
		return false, nil
	}
	return f.ranks.any(f.o.stop(f.run))
}

// watchChecks tells a schedule that depends on them of validations.
func (f *fitting) watchChecks(checks []Check) {
	if s, ok := f.schedule.(*optim.ReduceLROnPlateauSchedule); ok {
		for _, c := range checks {
			s.Observe(c.Loss)
		}
	}
}

// outOfPatience tells whether EarlyStopping ends the training here.
func (f *fitting) outOfPatience() bool {
	return f.o.patience > 0 && len(f.run.Checks)-1-f.run.Best >= f.o.patience
}

// better tells whether a loss is lower than another; any is than NaN.
func better(loss, than float64) bool {
	return loss < than || math.IsNaN(than) && !math.IsNaN(loss)
}

// inputBound is the share of the time waiting for data from which a run of more
// than a second says so.
const inputBound = 0.2

// end brings the run to its end, however it came about.
func (f *fitting) end(err error) {
	r := f.run
	r.finished = true
	f.endAMP()
	defer f.closeLogs(err)
	if f.began.IsZero() {
		return
	}
	now := time.Now()
	r.epochStarts = append(r.epochStarts, now)
	r.Time.Total = now.Sub(f.began)
	r.Time.Computing = max(0, r.Time.Total-r.Time.Waiting-r.Time.Validating)
	if f.outOfPatience() {
		r.note("stopped early: the validation loss has not fallen in %s", plural(f.o.patience, "validation"))
	}
	if !f.best.none() && !(r.Best == len(r.Checks)-1 && f.checked()) {
		f.restoreBest()
	}
	if waiting := r.Time.Waiting.Seconds() / r.Time.Total.Seconds(); waiting > inputBound && r.Time.Total > time.Second {
		r.note("input-bound: %.0f %% of the time was spent waiting for data; Workers(%d) may help", 100*waiting, 2*max(1, f.o.workers))
	}
	var diverged *DivergedError
	switch {
	case errors.As(err, &diverged):
		r.note("stopped: the loss of step %d is %v", diverged.Step, diverged.Loss)
	case interrupted(err):
		r.note("interrupted in step %d of %d: %v", len(r.Steps)+1, r.planned, err)
	case err != nil:
		r.note("failed in step %d of %d", len(r.Steps)+1, r.planned)
	}
}

// restoreBest gives the model the weights that were best in validation.
func (f *fitting) restoreBest() {
	best := f.run.Checks[f.run.Best]
	if err := f.best.restore(f.model); err != nil {
		f.run.note("the best weights could not be restored: %v", err)
		return
	}
	f.run.restored = true
	f.run.note("the model has the weights of epoch %d, step %d, with the lowest validation loss", best.Epoch, best.Step)
}
