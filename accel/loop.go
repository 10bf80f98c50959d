package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/interrupt"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// loop is the training loop of one call of [Fit]: epochs, steps and validations, in order.
// Observers follow the training ([Observer]).
type loop struct {
	stepper
	position
	o          *options
	observers  *observers
	resumption *resumption  // nil without Resume
	pending    *measurement // the newest step, whose results have not been read yet
	pause      pause
	record     *history.Recorder

	waited, making time.Duration // for batches, by the training, and by the workers to make them, since it was started or resumed
}

func newLoop(model nn.Module, train *data.Dataset, o *options) *loop {
	planned := o.epochs * ceilDiv(ceilDiv(o.examplesPerEpoch(train), o.batchSize), o.accumulate)
	if o.steps > 0 && (planned == 0 || o.steps < planned) {
		planned = o.steps
	}
	l := &loop{o: o, stepper: stepper{
		Training: &history.Training{Model: model, Dataset: train, TotalSteps: planned},
		loss:     o.loss, mixer: o.mixer, schedule: optim.Constant(), afterStep: o.afterStep,
	}}
	if l.loss == nil {
		l.loss = defaultLoss(train)
	}
	l.answers = answersTo(train, l.loss)
	if o.schedule != nil {
		l.schedule = o.schedule(planned)
	}
	l.optimizer = o.optimizer(model, o.hyperparameters...)
	l.rate = l.optimizer.LearningRate()
	if o.absoluteRates {
		l.rate = 1
	}
	setup := history.Setup{
		Dataset: train.Name(), Classes: train.Targets() == 0, Options: o.texts(), Outputs: o.outputs(), Seed: nextSeed(),
		Planned: planned, Live: o.live, Average: o.judgesAverage(), Ranks: 1, LocalRanks: 1,
	}
	if o.group != nil {
		setup.Ranks, setup.LocalRanks = o.group.Size(), o.group.LocalSize()
	}
	if o.writes() {
		setup.Watts = o.watts
	}
	l.record = history.NewRecorder(setup)
	l.Run = l.record.Run()
	l.precision = newPrecision(o.amp, o.precision, l.record)
	return l
}

// ceilDiv returns n/size, rounded up.
func ceilDiv(n, size int) int { return (n-1)/size + 1 }

// train runs the epochs.
func (l *loop) train(ctx context.Context) (err error) {
	defer nn.Catch(&err)
	if err := l.precision.supported(); err != nil {
		return err
	}
	if err := l.resumption.load(); err != nil {
		return err
	}
	for _, s := range l.Run.Steps { // of a resumed training
		if !s.Skipped {
			l.scheduleStep++
		}
	}
	if err := l.strategy.begin(); err != nil {
		return err
	}
	if err := l.observers.begin(); err != nil {
		return err
	}
	nn.Train(l.Model, true)
	now := time.Now()
	l.record.Begin(now)
	l.began = now.Add(-l.Run.Time.Total)
	stop, err := l.vote(l.observers.stop)
	for !stop && err == nil && (len(l.Run.Steps) < l.Run.Planned || l.unfinished()) {
		stop, err = l.oneEpoch(ctx)
	}
	if err != nil {
		return err
	}
	return l.strategy.finish()
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
	return l.vote(l.observers.stop || l.o.stop != nil && l.o.stop(l.Run))
}

// oneEpoch runs one pass over the data set, or the rest of one, and adds it to the run.
func (l *loop) oneEpoch(ctx context.Context) (stop bool, err error) {
	l.epochBegan = time.Now()
	l.record.BeginEpoch(l.epochBegan)
	if l.unfinished() {
		l.epochBegan = l.epochBegan.Add(-l.spent)
	} else {
		l.epoch++
		l.examplesSeen, l.firstStep, l.sum = 0, len(l.Run.Steps), sums{}
		if err := l.o.weighHard(l.Dataset); err != nil {
			return false, err
		}
	}
	l.resumed = false
	// The batches ignore the end of ctx, which the loop checks between steps: a step runs
	// completely or not at all.
	batches := l.Dataset.Batches(l.o.batchSize, data.Context(context.WithoutCancel(ctx)), data.Workers(l.o.workers),
		data.Shuffle(l.Run.Seed), data.Epoch(l.epoch), data.Skip(l.examplesSeen/l.o.batchSize), l.strategy.shard(), l.o.sampler())
	stop, err = l.pass(ctx, batches)
	l.Run.Time.Waiting += batches.Waited()
	l.waited += batches.Waited()
	l.making += batches.Making()
	l.complete = err == nil && l.examplesSeen >= l.o.examplesPerEpoch(l.Dataset)
	switch {
	case l.complete || err != nil && (!interrupt.Is(err) || l.strategy.groupError() != nil):
	case l.torn: // a function that the step has called was interrupted
		l.resumption.skip()
	default:
		err = joinErrors(err, l.resumption.save()) // to resume within the epoch
	}
	if len(l.Run.Steps) > l.firstStep {
		l.record.Epoch(history.Epoch{Steps: len(l.Run.Steps), Loss: l.sum.loss(), Accuracy: l.sum.accuracy(), Seconds: time.Since(l.epochBegan).Seconds()})
		err = joinErrors(err, l.observers.epoch(l.Run.Epochs[len(l.Run.Epochs)-1]))
	}
	if err != nil || stop {
		return stop, err
	}
	return l.vote(l.observers.stop)
}

// unfinished reports whether the training was saved within an epoch, or before the validation
// at its end.
func (l *loop) unfinished() bool {
	return l.resumed && l.epoch > 0 && len(l.Run.Epochs) < l.epoch
}

// pass runs the steps and validations of one epoch, until an observer stops them.
func (l *loop) pass(ctx context.Context, batches *data.Batches) (stop bool, err error) {
	defer func() {
		if interrupt.Is(err) && l.strategy.groupError() == nil { // it may have been the panic of a function that was interrupted
			err = joinErrors(l.readPending(nil), err)
		}
	}()
	defer nn.Catch(&err)
	if stop, err := l.validateIfDue(ctx); stop || err != nil { // the validation that was due when the training was interrupted
		return stop, err
	}
	if err := l.strategy.askStop(); err != nil {
		return false, err
	}
	for l.examplesSeen < l.o.examplesPerEpoch(l.Dataset) && l.stepsDone() < l.Run.Planned {
		if err := l.strategy.interrupt(ctx); err != nil {
			return false, joinErrors(l.readPending(nil), err)
		}
		l.pause.letOthersRun()
		examples := min(l.o.batchSize*l.o.accumulate, l.o.examplesPerEpoch(l.Dataset)-l.examplesSeen)
		m, err := l.step(batches, l.stepsDone()+1, examples)
		if err != nil && m == nil {
			if before := l.readPending(nil); before != nil {
				return false, before // the device reported an error of the previous step late
			}
			return false, l.explain(err)
		}
		m.epoch = l.epoch
		l.examplesSeen += examples
		if before := l.readPending(m); before != nil {
			return false, joinErrors(before, err)
		}
		if err != nil { // the step was made
			return false, joinErrors(err, l.readPending(nil))
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
	ended := len(l.Run.Steps) == l.Run.Planned
	if l.o.validate != nil && !validated(l.Run) && (l.o.evalEvery == 0 || ended) {
		return l.validate(ctx)
	}
	return false, nil
}

// readPending reads the results of the previous step and makes newest the pending one. Reading
// one step late lets a GPU start the next step without waiting for the host.
func (l *loop) readPending(newest *measurement) error { return l.explain(l.read(newest)) }

func (l *loop) read(newest *measurement) (err error) {
	defer nn.Catch(&err)
	m := l.pending
	l.pending = newest
	if m == nil {
		return nil
	}
	measured := m.read()
	if err := l.strategy.groupError(); err != nil { // without the other ranks, what the GPU returned is undefined
		return err
	}
	if m.skipped {
		l.scheduleStep--
	}
	loss := measured.loss
	if !notANumber(loss) || !m.skipped {
		l.sum.add(measured)
	}
	s := history.Step{
		Epoch: m.epoch, Loss: loss, Accuracy: measured.right / measured.counted,
		LearningRate: m.rate, Seconds: time.Since(l.began).Seconds(), Skipped: m.skipped, LossScale: m.scale, GradNorm: m.norm,
	}
	l.record.Step(s, m.examples)
	return l.observers.step(s)
}

// explain converts the error of a step whose loss was not finite to a [DivergedError]; it
// returns other errors unchanged.
func (l *loop) explain(err error) error {
	var loss *tensor.NonFiniteError
	if !errors.As(err, &loss) {
		return l.divergence.locate(l.Training, err)
	}
	l.record.Step(history.Step{ // so that the history shows the loss
		Epoch: l.epoch, Loss: loss.Value, Accuracy: math.NaN(),
		LearningRate: l.learningRate(), Seconds: time.Since(l.began).Seconds(),
	}, 0)
	return l.divergence.findCause(l.Training, loss.Value)
}

// stepsDone returns the number of updates, including the one whose loss has not been read.
func (l *loop) stepsDone() int {
	n := len(l.Run.Steps)
	if l.pending != nil {
		n++
	}
	return n
}

// validateIfDue validates if [ValidateEvery] asks for it after this step.
func (l *loop) validateIfDue(ctx context.Context) (stop bool, err error) {
	made := l.stepsDone()
	if l.o.evalEvery == 0 || l.o.validate == nil || made == 0 || made%l.o.evalEvery > 0 || l.pending == nil && validated(l.Run) {
		return false, nil
	}
	return l.validate(ctx)
}

// validate measures the model on the validation set.
func (l *loop) validate(ctx context.Context) (stop bool, err error) {
	if err := l.readPending(nil); err != nil {
		return false, err
	}
	begin := time.Now()
	if err := l.strategy.broadcastBuffers(l.Model); err != nil {
		return false, err
	}
	var result *history.Result
	func() {
		defer l.o.judged().use()()
		l.precision.cast(func() { result, err = evaluate(ctx, l.Model, l.o.validate, l.loss, l.o.metrics, l.strategy, nil) })
	}()
	l.Run.Time.Validating += time.Since(begin)
	if err != nil {
		var undefined *metrics.UndefinedError
		if errors.As(err, &undefined) {
			err = fmt.Errorf("accel: Validate(%s): %w", l.o.validate.Name(), err)
		}
		return false, err
	}
	newest := history.Validation{Step: len(l.Run.Steps), Epoch: l.epoch, Loss: result.Loss(), Accuracy: result.Accuracy(), Metrics: result.Metrics()}
	if err := l.o.criterion.check(newest); err != nil {
		return false, err
	}
	l.record.Validation(newest, l.Run.Best < 0 || l.o.criterion.better(newest, l.Run.Validations[l.Run.Best]))
	if err := l.observers.validation(newest); err != nil {
		return false, err
	}
	return l.stop()
}

// inputBound is the share of time waiting for data above which a run of more than a second gets
// a note, unless the batches were made in less time than that: then it waited for a core.
const inputBound = 0.2

// end adds to the run how it ended, before the observers end.
func (l *loop) end(err error) {
	var total time.Duration
	if !l.began.IsZero() {
		total = time.Since(l.began)
	}
	l.record.Finish(total)
	l.precision.note(l.record)
	if total == 0 {
		return
	}
	if waiting := l.Run.Time.Waiting.Seconds() / total.Seconds(); waiting > inputBound && l.making >= l.waited && total > time.Second {
		l.record.Note("input-bound: %.0f %% of the time was spent waiting for data; Workers(%d) may help", 100*waiting, 2*max(1, l.o.workers))
	}
	if l.o.judgesAverage() {
		l.record.Note("validations measured the average of the parameters (EMA), which Use gives to the model")
	}
	l.record.Failed(err)
}

// validated reports whether the model has been validated after the newest step.
func validated(r *history.Run) bool {
	n := len(r.Validations)
	return n > 0 && r.Validations[n-1].Step == len(r.Steps)
}
