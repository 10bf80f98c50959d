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

// loop is the training loop of one call of [Fit]: epochs, steps, validations and their
// order. What follows the training is an [Observer], where a step runs is decided by
// the strategy, and in which types by the precision.
type loop struct {
	o          *options
	model      nn.Module
	set        *data.Dataset
	loss       func(prediction, target *Tensor) *Tensor
	run        *Run
	strategy   strategy   // where a step runs
	precision  *precision // and in which types
	observers  *observers
	resumption *resumption    // nil without Resume
	stopping   *earlyStopping // nil without EarlyStopping
	divergence *divergence

	optimizer *optim.Optimizer
	schedule  optim.Schedule
	rate      float64 // learning rate before the schedule
	began     time.Time
	advanced  int // steps that are not known to be skipped: where the schedule is

	epoch      int           // from 1
	seen       int           // examples of this epoch
	first      int           // steps before this epoch
	sum        sums          // of this epoch
	epochBegan time.Time     // this epoch, less the time of pauses
	spent      time.Duration // on this epoch before the training was resumed
	resumed    bool          // and the epoch goes on from there
	whole      bool          // this epoch was made as a whole
	pending    *measurement  // of the newest step, not yet read
	unseen     error         // what the first batch showed: parameters that no optimizer changes
	looked     bool          // at the first batch
}

func newLoop(model nn.Module, train *data.Dataset, o *options, run *Run) *loop {
	l := &loop{o: o, model: model, set: train, loss: o.loss, run: run, schedule: optim.Constant()}
	if l.loss == nil {
		l.loss = defaultLoss(train)
	}
	planned := o.epochs * quotient(quotient(train.Len(), o.batchSize), o.accumulate)
	if o.steps > 0 && (planned == 0 || o.steps < planned) {
		planned = o.steps
	}
	if o.schedule != nil {
		l.schedule = o.schedule(planned)
	}
	l.optimizer = o.optimizer(model, o.numbers...)
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

// observe makes the observers of the training: those of the user, and those that the
// other options ask for.
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

// both joins two errors, either of which may be nil.
func both(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

// quotient is n/size, rounded up.
func quotient(n, size int) int { return (n-1)/size + 1 }

func defaultLoss(s *data.Dataset) func(prediction, target *Tensor) *Tensor {
	if s.Targets() > 0 {
		return nn.MSE
	}
	return nn.CrossEntropy
}

// train makes the epochs.
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
	return l.strategy.settle(l)
}

// vote reports whether the training is to end early, on any of the ranks. They need not be
// asked where they cannot differ: early stopping comes to the same on all.
func (l *loop) vote(stop bool) (bool, error) {
	if l.o.stop == nil && len(l.o.observers) == 0 {
		return stop, nil
	}
	return l.strategy.any(stop)
}

// stop asks whether an observer or the function of [StopWhen] ends the training.
func (l *loop) stop() (bool, error) {
	return l.vote(l.observers.stop || l.o.stop != nil && l.o.stop(l.run))
}

// oneEpoch makes one pass over the data set, or a part of it, and enters it into the run.
func (l *loop) oneEpoch(ctx context.Context) (stop bool, err error) {
	l.epochBegan = time.Now()
	l.run.epochStarts = append(l.run.epochStarts, l.epochBegan)
	if l.unfinished() {
		l.epochBegan = l.epochBegan.Add(-l.spent)
	} else {
		l.epoch++
		l.seen, l.first, l.sum = 0, len(l.run.Steps), sums{}
	}
	l.resumed = false
	// Batches do not end with ctx, which is looked at between steps: a step is
	// made as a whole or not at all.
	batches := l.set.Batches(l.o.batchSize, data.Context(context.WithoutCancel(ctx)), data.Workers(l.o.workers),
		data.Shuffle(l.run.Seed), data.Epoch(l.epoch), data.Skip(l.seen/l.o.batchSize), l.strategy.shard())
	stop, err = l.pass(ctx, batches)
	l.run.Time.Waiting += batches.Waited()
	l.whole = err == nil && l.seen == l.set.Len()
	if !l.whole && (err == nil || interrupted(err)) {
		err = both(err, l.resumption.save()) // to go on within the epoch
	}
	if len(l.run.Steps) > l.first {
		e := Epoch{
			Steps: len(l.run.Steps), Loss: l.sum.loss(), Accuracy: l.sum.accuracy(), Seconds: time.Since(l.epochBegan).Seconds(),
			began: l.run.epochStarts[len(l.run.epochStarts)-1], ended: time.Now(),
		}
		l.run.Epochs = append(l.run.Epochs, e)
		err = both(err, l.observers.epoch(e))
	}
	if err != nil || stop {
		return stop, err
	}
	return l.vote(l.observers.stop)
}

// unfinished reports whether a training that is resumed was left in the midst of
// an epoch, or before the validation at its end.
func (l *loop) unfinished() bool {
	return l.resumed && l.epoch > 0 && len(l.run.Epochs) < l.epoch
}

// pass makes the steps and validations of one epoch, until an observer stops them.
func (l *loop) pass(ctx context.Context, batches *data.Batches) (stop bool, err error) {
	if stop, err := l.checkDue(ctx); stop || err != nil { // the one that an interrupt prevented
		return stop, err
	}
	if err := l.strategy.askStop(); err != nil {
		return false, err
	}
	for l.seen < l.set.Len() && l.made() < l.run.planned {
		if err := l.strategy.interrupt(ctx); err != nil {
			return false, both(l.settle(nil), err)
		}
		examples := min(l.o.batchSize*l.o.accumulate, l.set.Len()-l.seen)
		m, err := l.step(batches, examples)
		if err != nil {
			if before := l.settle(nil); before != nil {
				return false, before // what a device finds late is of the step before
			}
			return false, l.divergence.explain(err)
		}
		l.seen += examples
		if err := l.settle(m); err != nil {
			return false, err
		}
		if stop, err := l.stop(); err != nil {
			return false, err
		} else if stop {
			return true, l.settle(nil)
		}
		if stop, err := l.checkDue(ctx); stop || err != nil {
			return stop, err
		}
		if l.resumption.due(l.made()) {
			if err := l.settle(nil); err != nil {
				return false, err
			}
			if err := l.resumption.save(); err != nil {
				return false, err
			}
		}
	}
	if err := l.settle(nil); err != nil {
		return false, err
	}
	ended := len(l.run.Steps) == l.run.planned
	if l.o.validate != nil && !l.run.checked() && (l.o.evalEvery == 0 || ended) {
		return l.check(ctx)
	}
	return false, nil
}
