package accel

import (
	"context"
	"errors"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// loop is the training loop of one call of [Fit]: epochs, steps and validations, in order.
// Observers follow the training ([Observer]); the strategy decides where a step runs, and the
// precision in which element types.
type loop struct {
	o          *options
	model      nn.Module
	set        *data.Dataset
	loss       func(prediction, target *Tensor) *Tensor
	run        *Run
	strategy   strategy   // where a step runs
	precision  *precision // in which element types
	observers  *observers
	resumption *resumption    // nil without Resume
	stopping   *earlyStopping // nil without EarlyStopping
	divergence *divergence

	optimizer    *optim.Optimizer
	schedule     optim.Schedule
	rate         float64 // learning rate before the schedule
	began        time.Time
	scheduleStep int // schedule position: steps so far that are not known to be skipped

	epoch             int           // from 1
	examplesSeen      int           // examples of this epoch that were trained on
	firstStep         int           // number of steps before this epoch
	sum               sums          // of this epoch
	epochBegan        time.Time     // start of this epoch; a resumed epoch starts earlier by spent
	spent             time.Duration // time spent on this epoch before the training was resumed
	resumed           bool          // the training was resumed within this epoch
	complete          bool          // this epoch covered the whole data set
	pending           *measurement  // the newest step, whose results have not been read yet
	missing           error         // the first batch used parameters that the optimizer does not have
	parametersChecked bool          // missing has been computed
}

func newLoop(model nn.Module, train *data.Dataset, o *options, run *Run) *loop {
	l := &loop{o: o, model: model, set: train, loss: o.loss, run: run, schedule: optim.Constant()}
	if l.loss == nil {
		l.loss = defaultLoss(train)
	}
	planned := o.epochs * ceilDiv(ceilDiv(train.Len(), o.batchSize), o.accumulate)
	if o.steps > 0 && (planned == 0 || o.steps < planned) {
		planned = o.steps
	}
	if o.schedule != nil {
		l.schedule = o.schedule(planned)
	}
	l.optimizer = o.optimizer(model, o.hyperparameters...)
	l.rate = l.optimizer.LearningRate()
	if o.absoluteRates {
		l.rate = 1
	}
	seed, _ := (*tensor.Generator)(nil).State()
	*run = Run{
		Dataset: train.Name(), Options: o.texts(), outputs: o.outputs(), Seed: nextSeed(), Best: -1, streamSeed: seed, device: tensor.Device(),
		planned: planned, metrics: o.live, classes: train.Targets() == 0, Ranks: 1,
	}
	l.precision = newPrecision(o, run)
	return l
}

// observe creates the observers of the training: the user's, then those that other options
// need.
func (l *loop) observe(ctx context.Context) {
	l.observers = &observers{
		all:      append([]Observer{}, l.o.observers...),
		training: &Training{Run: l.run, Model: l.model, Dataset: l.set, TotalSteps: l.run.planned},
	}
	add := func(o Observer) { l.observers.all = append(l.observers.all, o) }
	add(&screen{ctx: ctx, o: l.o})
	for _, r := range l.o.recordings() {
		add(r)
	}
	if s, ok := l.schedule.(*optim.ReduceLROnPlateauSchedule); ok {
		add(&plateau{observe: s.Observe})
	}
	if l.o.patience > 0 {
		l.stopping = &earlyStopping{patience: l.o.patience, model: l.model}
		add(l.stopping)
	}
	if l.o.checkpoint != "" {
		l.resumption = &resumption{loop: l, path: l.o.checkpoint, every: l.o.saveEvery}
		add(l.resumption)
	}
	l.divergence = &divergence{loop: l}
	add(l.divergence)
}

// joinErrors joins two errors, either of which may be nil.
func joinErrors(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

// ceilDiv returns n/size, rounded up.
func ceilDiv(n, size int) int { return (n-1)/size + 1 }

func defaultLoss(s *data.Dataset) func(prediction, target *Tensor) *Tensor {
	if s.Targets() > 0 {
		return nn.MSE
	}
	return nn.CrossEntropy
}

// train runs the epochs.
func (l *loop) train(ctx context.Context) (err error) {
	defer nn.Catch(&err)
	if err := l.precision.supported(); err != nil {
		return err
	}
	if l.resumption != nil {
		if err := l.resumption.load(); err != nil {
			return err
		}
	}
	if err := l.strategy.begin(l); err != nil {
		return err
	}
	if err := l.observers.begin(); err != nil {
		return err
	}
	nn.Train(l.model, true)
	l.run.began = time.Now()
	l.began = l.run.began.Add(-l.run.Time.Total)
	stop, err := l.vote(l.observers.stop)
	for !stop && err == nil && (len(l.run.Steps) < l.run.planned || l.unfinished()) {
		stop, err = l.oneEpoch(ctx)
	}
	if err != nil {
		return err
	}
	return l.strategy.finish(l)
}

// vote reports whether any rank ends the training early. Without a function or an observer of
// the user all ranks decide the same, and need not ask each other.
func (l *loop) vote(stop bool) (bool, error) {
	if l.o.stop == nil && len(l.o.observers) == 0 {
		return stop, nil
	}
	return l.strategy.anyRank(stop)
}

// stop reports whether an observer or the function of [StopWhen] ends the training.
func (l *loop) stop() (bool, error) {
	return l.vote(l.observers.stop || l.o.stop != nil && l.o.stop(l.run))
}

// oneEpoch runs one pass over the data set, or the rest of one, and adds it to the run.
func (l *loop) oneEpoch(ctx context.Context) (stop bool, err error) {
	l.epochBegan = time.Now()
	l.run.epochStarts = append(l.run.epochStarts, l.epochBegan)
	if l.unfinished() {
		l.epochBegan = l.epochBegan.Add(-l.spent)
	} else {
		l.epoch++
		l.examplesSeen, l.firstStep, l.sum = 0, len(l.run.Steps), sums{}
	}
	l.resumed = false
	// The batches ignore the end of ctx, which the loop checks between steps: a step runs
	// completely or not at all.
	batches := l.set.Batches(l.o.batchSize, data.Context(context.WithoutCancel(ctx)), data.Workers(l.o.workers),
		data.Shuffle(l.run.Seed), data.Epoch(l.epoch), data.Skip(l.examplesSeen/l.o.batchSize), l.strategy.shard())
	stop, err = l.pass(ctx, batches)
	l.run.Time.Waiting += batches.Waited()
	l.complete = err == nil && l.examplesSeen == l.set.Len()
	if !l.complete && (err == nil || interrupted(err)) {
		err = joinErrors(err, l.resumption.save()) // to resume within the epoch
	}
	if len(l.run.Steps) > l.firstStep {
		e := Epoch{
			Steps: len(l.run.Steps), Loss: l.sum.loss(), Accuracy: l.sum.accuracy(), Seconds: time.Since(l.epochBegan).Seconds(),
			began: l.run.epochStarts[len(l.run.epochStarts)-1], ended: time.Now(),
		}
		l.run.Epochs = append(l.run.Epochs, e)
		err = joinErrors(err, l.observers.epoch(e))
	}
	if err != nil || stop {
		return stop, err
	}
	return l.vote(l.observers.stop)
}

// unfinished reports whether the training was saved within an epoch, or before the validation
// at its end.
func (l *loop) unfinished() bool {
	return l.resumed && l.epoch > 0 && len(l.run.Epochs) < l.epoch
}

// pass runs the steps and validations of one epoch, until an observer stops them.
func (l *loop) pass(ctx context.Context, batches *data.Batches) (stop bool, err error) {
	if stop, err := l.validateIfDue(ctx); stop || err != nil { // the validation that was due when the training was interrupted
		return stop, err
	}
	if err := l.strategy.askStop(); err != nil {
		return false, err
	}
	for l.examplesSeen < l.set.Len() && l.stepsDone() < l.run.planned {
		if err := l.strategy.interrupt(ctx); err != nil {
			return false, joinErrors(l.readPending(nil), err)
		}
		examples := min(l.o.batchSize*l.o.accumulate, l.set.Len()-l.examplesSeen)
		m, err := l.step(batches, examples)
		if err != nil {
			if before := l.readPending(nil); before != nil {
				return false, before // the device reported an error of the previous step late
			}
			return false, l.divergence.explain(err)
		}
		l.examplesSeen += examples
		if err := l.readPending(m); err != nil {
			return false, err
		}
		if stop, err := l.stop(); err != nil {
			return false, err
		} else if stop {
			return true, l.readPending(nil)
		}
		if stop, err := l.validateIfDue(ctx); stop || err != nil {
			return stop, err
		}
		if l.resumption.due(l.stepsDone()) {
			if err := l.readPending(nil); err != nil {
				return false, err
			}
			if err := l.resumption.save(); err != nil {
				return false, err
			}
		}
	}
	if err := l.readPending(nil); err != nil {
		return false, err
	}
	ended := len(l.run.Steps) == l.run.planned
	if l.o.validate != nil && !l.run.validated() && (l.o.evalEvery == 0 || ended) {
		return l.validate(ctx)
	}
	return false, nil
}
