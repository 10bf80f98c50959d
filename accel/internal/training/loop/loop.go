package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// Fit trains a model on a data set, as accel.Fit describes it. The run is not nil.
func Fit(ctx context.Context, model nn.Module, train *data.Dataset, settings *Settings) (run *history.Run, err error) {
	run = &history.Run{Best: -1}
	begun, returned := false, false
	defer func() {
		switch {
		case begun:
		case err != nil:
			err = Reject(ctx, settings.Group, err)
		case !returned && settings.Group != nil:
			settings.Group.Fail(errors.New("the training has panicked"))
		}
	}()
	defer nn.Catch(&err)
	if err := settings.Check(model, train); err != nil {
		return run, err
	}
	if !oneFit.TryLock() {
		return run, ErrBusy
	}
	defer oneFit.Unlock()
	undo, err := settings.prepare(ctx, model, train)
	if err != nil {
		return run, err
	}
	defer func() { err = joinErrors(err, undo()) }()
	begun = true
	l, err := newLoop(ctx, model, train, settings)
	run = l.run
	if err == nil {
		err = l.train(ctx)
	}
	returned = true
	return run, err
}

// oneFit is locked by the Fit that runs.
var oneFit sync.Mutex

// ErrBusy is returned by [Fit] while another Fit runs.
var ErrBusy = errors.New("accel: Fit: another call of Fit is running: wait until it returns, since only one model is trained at a time")

// loop is the training loop of one call of accel.Fit. This file has all of it, from the top to the bottom: Fit, the epochs,
// its steps, a step, a validation, and the end. The strategy decides on which processes a step runs, the precision in which
// element types, and observers follow the training.
type loop struct {
	settings *Settings
	model    nn.Module
	set      *data.Dataset
	schema   data.Schema // of the set, before the training

	record    *history.Recorder // the only one that changes run
	run       *history.Run      // the history so far
	observers *observers

	strategy  strategy
	precision *precision
	optimizer *optim.Optimizer
	schedule  optim.Schedule
	rate      float64 // learning rate before the schedule
	loss      func(prediction, target *tensor.Tensor) *tensor.Tensor
	answers   answers

	divergence *divergence // records the batches
	watch      *examiner   // nil with NoChecks
	resumption *resumption // nil without Resume

	at           position     // how far the training has come
	scheduleStep int          // schedule position: steps so far that are not known to be skipped
	pending      *measurement // the newest step, whose results have not been read yet
	torn         bool         // a step has begun, and has changed the model or the random numbers, but has not ended

	missing           error // the first batch used parameters that the optimizer does not have
	parametersChecked bool  // missing has been computed

	waited, making time.Duration // for batches, by the training, and by the workers to make them, since it was started or resumed
	pause          pause
}

// newLoop returns the loop of a training whose settings have been checked and prepared. It returns the loop also with an error
// of the strategy, with which the training must not begin.
func newLoop(ctx context.Context, model nn.Module, train *data.Dataset, o *Settings) (*loop, error) {
	planned := o.plannedSteps(train)
	l := &loop{settings: o, model: model, set: train, schema: train.Schema(), loss: o.Loss, schedule: optim.Constant()}
	if l.loss == nil {
		l.loss = defaultLoss(train)
	}
	l.answers = answersTo(train, l.loss)
	if o.Schedule != nil {
		l.schedule = o.Schedule(planned)
	}
	l.optimizer = o.Optimizer(model, o.Hyperparameters...)
	switch {
	case l.schedule == nil:
		panic(&tensor.StateError{Op: "Fit", Hint: "the function of " + o.ScheduleText + " has returned nil: it must return a schedule"})
	case l.optimizer == nil:
		panic(&tensor.StateError{Op: "Fit", Hint: "the function of " + o.OptimizerText + " has returned nil: it must return an optimizer"})
	}
	if l.rate = l.optimizer.LearningRate(); o.AbsoluteRates {
		l.rate = 1
	}
	l.record = history.NewRecorder(o.setup(train, planned))
	l.run = l.record.Run()
	if o.Group != nil && o.Group.Size() == 1 {
		l.record.Note("1 rank computed this: the group of DataParallel contains no other")
	}
	l.precision = newPrecision(o.Amp, o.Precision, l.record)
	var err error
	if l.strategy, err = newStrategy(ctx, o, l.training(), l.record); err != nil {
		return l, err
	}
	if !l.strategy.writes() {
		o.dropOutputs()
	}
	l.observe(ctx)
	return l, nil
}

// training returns what others know of the training. Each gets its own, so that what observers assign to its fields does
// not affect the loop.
func (l *loop) training() *history.Training {
	return &history.Training{Run: l.run, Model: l.model, Dataset: l.set, TotalSteps: l.run.Planned}
}

// observe creates the observers of the training: the user's, then those that other options
// need.
func (l *loop) observe(ctx context.Context) {
	o := l.settings
	l.observers = &observers{training: l.training(), all: slices.Clone(o.Observers), users: len(o.Observers)}
	add := func(o history.Observer) { l.observers.all = append(l.observers.all, o) }
	for _, r := range o.recordings(ctx, l.record) {
		add(r)
	}
	if s, ok := l.schedule.(*optim.ReduceLROnPlateauSchedule); ok {
		add(&plateau{observe: s.Observe})
	}
	var stopping *earlyStopping
	if o.Patience > 0 {
		stopping = &earlyStopping{record: l.record, patience: o.Patience, criterion: o.Criterion, judged: o.judged()}
		add(stopping)
	}
	if o.Checkpoint != "" {
		l.resumption = &resumption{
			o: o, training: l.training(), record: l.record, position: &l.at, processes: l.strategy,
			optimizer: l.optimizer, scaler: l.precision.scaler, stopping: stopping,
		}
		add(l.resumption)
	}
	l.divergence = &divergence{
		record:            l.record,
		forward:           func(b data.Batch) { l.precision.cast(func() { l.forward(b) }) },
		stopSynchronizing: l.strategy.stopSynchronizing,
		whole:             l.strategy.whole,
	}
	add(l.divergence)
	if !o.Unexamined && l.strategy.writes() && o.ZeRO == 0 { // the examiner reads whole gradients
		e := newExaminer(l.run, l.model, l.answers, l.record, o)
		l.watch = e
		add(e) // the last one, whose End is the first: the model still has its last weights
	}
}

// train runs the training, and ends it in order also after an error or a panic of the model.
func (l *loop) train(ctx context.Context) (err error) {
	returned := false
	defer func() {
		ended := err
		if !returned {
			p := recover()
			if p != nil {
				defer panic(p)
			}
			ended = fmt.Errorf("accel: Fit: %w", interrupt.OfModel(p))
		}
		l.end(ended)
		if len(l.run.Steps) > 0 {
			(&TrainingRecord{Schema: l.schema, loss: l.loss}).attach(l.model)
		}
		defer l.strategy.end(ended, returned)
		err = joinErrors(err, l.observers.end(ended))
	}()
	defer func() { // the gradients of the last step are not those of a loop that follows
		if l.watch != nil && returned && err == nil {
			l.watch.trained()
		}
		for _, p := range nn.Parameters(l.model) {
			p.ZeroGrad()
		}
	}()
	l.record.Peak(tensors.PeakBytes(func() { err = l.epochs(ctx) }))
	returned = true
	return err
}

// epochs runs the epochs.
func (l *loop) epochs(ctx context.Context) (err error) {
	defer nn.Catch(&err)
	if err := l.precision.supported(); err != nil {
		return err
	}
	if err := l.resumption.load(); err != nil {
		return err
	}
	if len(l.run.Steps) < l.run.Planned || l.unfinished() {
		if err := l.strategy.runOnAll(l.settings.checkFiles); err != nil {
			return err
		}
	}
	for _, s := range l.run.Steps { // of a resumed training
		if !s.Skipped {
			l.scheduleStep++
		}
	}
	if err := l.strategy.begin(); err != nil {
		return err
	}
	if part, ok := l.strategy.updates(l.model).(*parallel.DistributedModel); ok {
		whole := l.optimizer.State() // that of the file; none at the start
		l.optimizer = l.settings.Optimizer(part, l.settings.Hyperparameters...)
		if err := l.optimizer.SetState(part.DivideState(whole)); err != nil {
			return err
		}
		if l.resumption != nil {
			l.resumption.optimizer = l.optimizer
		}
	}
	if len(nn.UnusedLayers(l.model)) == 0 && len(nn.Parameters(l.model)) > 0 { // the first step says more about a model without parameters
		if err := l.strategy.runOnAll(l.optimizer.Err); err != nil {
			return err
		}
	}
	if err := l.resumption.share(); err != nil {
		return err
	}
	if err := l.observers.begin(); err != nil {
		return err
	}
	nn.Train(l.model, true)
	now := time.Now()
	l.record.Begin(now)
	l.at.began = now.Add(-l.run.Time.Total)
	stop, err := l.vote(l.observers.stop)
	for !stop && err == nil && (len(l.run.Steps) < l.run.Planned || l.unfinished()) {
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
	if l.settings.Stop == nil && len(l.settings.Observers) == 0 {
		return stop, nil
	}
	return l.strategy.anyRank(stop)
}

// stop reports whether an observer or the function of [StopWhen] ends the training.
func (l *loop) stop() (bool, error) {
	return l.vote(l.observers.stop || l.settings.Stop != nil && l.settings.Stop(l.run))
}

// epochLoss returns the mean loss of the epoch without the steps that overflowed in float16 so that their loss was not finite either; NaN
// if there are no others.
func (l *loop) epochLoss() float64 {
	if !slices.ContainsFunc(l.run.Steps[l.at.firstStep:], func(s history.Step) bool { return !s.Skipped || !notANumber(s.Loss) }) {
		return math.NaN()
	}
	return l.at.sum.loss()
}

// oneEpoch runs one pass over the data set, or the rest of one, and adds it to the run.
func (l *loop) oneEpoch(ctx context.Context) (stop bool, err error) {
	l.at.epochBegan = time.Now()
	l.record.BeginEpoch(l.at.epochBegan)
	if l.unfinished() {
		l.at.epochBegan = l.at.epochBegan.Add(-l.at.spent)
	} else {
		l.at.epoch++
		l.at.examplesSeen, l.at.firstStep, l.at.sum = 0, len(l.run.Steps), sums{}
		if err := l.settings.weighHard(l.set); err != nil {
			return false, err
		}
	}
	l.at.resumed = false
	// The batches ignore the end of ctx, which the loop checks between steps: a step runs
	// completely or not at all.
	batches := l.set.Batches(l.settings.BatchSize, data.Context(context.WithoutCancel(ctx)), data.Workers(l.settings.Workers),
		data.Shuffle(l.run.Seed), data.Epoch(l.at.epoch), data.Skip(l.at.examplesSeen/l.settings.BatchSize), l.strategy.shard(), l.settings.sampler())
	stop, err = l.pass(ctx, batches)
	l.run.Time.Waiting += batches.Waited()
	l.waited += batches.Waited()
	l.making += batches.Making()
	l.at.complete = err == nil && l.at.examplesSeen >= l.settings.examplesPerEpoch(l.set)
	switch {
	case l.at.complete || err != nil && (!interrupt.Is(err) || l.strategy.groupError() != nil):
	case l.torn, err != nil && !l.strategy.inStep(): // a function that the step has called was interrupted
		l.resumption.skip()
	default:
		err = joinErrors(err, l.resumption.save()) // to resume within the epoch
	}
	if len(l.run.Steps) > l.at.firstStep {
		l.record.Epoch(history.Epoch{Steps: len(l.run.Steps), Loss: l.epochLoss(), Accuracy: l.at.sum.accuracy(), Seconds: time.Since(l.at.epochBegan).Seconds()})
		err = joinErrors(err, l.observers.epoch(l.run.Epochs[len(l.run.Epochs)-1]))
	}
	if err != nil || stop {
		return stop, err
	}
	return l.vote(l.observers.stop)
}

// unfinished reports whether the training was saved within an epoch, or before the validation
// at its end.
func (l *loop) unfinished() bool {
	return l.at.resumed && l.at.epoch > 0 && len(l.run.Epochs) < l.at.epoch
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
	for l.at.examplesSeen < l.settings.examplesPerEpoch(l.set) && l.stepsDone() < l.run.Planned {
		if err := l.strategy.interrupt(ctx); err != nil {
			return false, joinErrors(l.readPending(nil), err)
		}
		l.pause.letOthersRun()
		examples := min(l.settings.BatchSize*l.settings.Accumulate, l.settings.examplesPerEpoch(l.set)-l.at.examplesSeen)
		m, err := l.step(batches, l.stepsDone()+1, examples)
		if err != nil && m == nil {
			if before := l.readPending(nil); before != nil {
				return false, before // the device reported an error of the previous step late
			}
			return false, l.explain(err)
		}
		m.epoch = l.at.epoch
		l.at.examplesSeen += examples
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
	ended := len(l.run.Steps) == l.run.Planned
	if l.settings.Validate != nil && !validated(l.run) && (l.settings.EvalEvery == 0 || ended) {
		return l.validate(ctx)
	}
	return false, nil
}

// step makes the update of the given number, from 1, from the next batches, which together have
// the given number of examples. Each batch is weighted by what its loss was divided by, the number of
// its examples, of classes that are not [data.Ignored], or a sum of weights, so that the gradient
// equals that of one large batch. If the update was made, but a function of [AfterStep] fails, step
// returns the measurement with the error.
func (l *loop) step(batches *data.Batches, number, examples int) (made *measurement, err error) {
	defer nn.Catch(&err)
	defer trace.Range(func() string { return fmt.Sprintf("step %d", number) })()
	m := &measurement{examples: examples}
	l.divergence.nextStep()
	l.strategy.beforeStep(number)
	l.optimizer.ZeroGrad()
	for done := 0; done < examples; {
		if !batches.Next() {
			if err := batches.Err(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("accel: the data set %s ended after %d of the %d examples of a step: it must not change during the training", l.set.Name(), done, examples)
		}
		b := batches.Batch()
		l.torn = true
		m.several = l.run.Ranks > 1 || b.Whole < examples
		learn := l.strategy.batch
		if done += b.Whole; done == examples {
			learn = func(forward forwardPass) error { return l.strategy.lastBatch(l.precision, m, forward) }
		}
		if err := learn(func() (func(), error) { return l.forwardPass(m, b) }); err != nil {
			return nil, err
		}
	}
	m.normalize(nn.Parameters(l.strategy.updates(l.model)))
	m.rate = l.learningRate()
	l.optimizer.SetLearningRate(m.rate)
	m.lossScale, m.made = l.precision.update(l.optimizer)
	if l.watch != nil {
		l.watch.updated(number)
	}
	m.gradNorm = l.optimizer.GradNorm()
	if err := l.strategy.updated(l.settings.Average); err != nil {
		return nil, err
	}
	l.scheduleStep++
	made = m
	for _, after := range l.settings.AfterStep {
		err = joinErrors(err, after(l.scheduleStep))
	}
	l.torn = false
	return made, err
}

// learningRate returns the learning rate of the current step.
func (l *loop) learningRate() float64 { return l.rate * l.schedule.Factor(l.scheduleStep) }

// forwardPass computes the loss of a batch. backward adds its gradient to that of the step.
func (l *loop) forwardPass(m *measurement, b data.Batch) (backward func(), err error) {
	if b.Len() == 0 {
		return func() { l.strategy.idle(l.placeholder) }, nil
	}
	l.divergence.batch(b)
	var prediction, loss, divisor *tensor.Tensor
	l.precision.cast(func() {
		prediction, loss, divisor = l.forward(b)
		if l.watch != nil {
			l.watch.forward(b, prediction, loss)
		}
		loss = l.strategy.loss(l.precision, loss)
	})
	if l.missing != nil {
		return nil, l.missing
	}
	m.add(loss, divisor, prediction, b, l.answers.in(prediction, loss))
	return func() { l.backwardPass(m, b, loss) }, nil
}

// backwardPass adds the gradient of the newest batch, which has the given loss, to that of the step.
func (l *loop) backwardPass(m *measurement, b data.Batch, loss *tensor.Tensor) {
	if !m.several || m.divisors == nil {
		l.backward(loss, float64(b.Len())/float64(m.examples))
		return
	}
	by := m.divisors[len(m.divisors)-1].Cast(loss.DType())
	share := by.MulScalar(1 / float64(m.examples)) // until normalize divides by the mean of all batches
	weighted := loss.Mul(share)
	l.backward(weighted, 1)
	for _, t := range []*tensor.Tensor{weighted, share, by} {
		t.Release()
	}
	tensor.Flush()
}

// forward computes the prediction and the loss of a batch, and what the loss was divided by; nil for the
// number of examples.
func (l *loop) forward(b data.Batch) (prediction, loss, divisor *tensor.Tensor) {
	mixture := l.settings.Mixer.mix(&b)
	prediction = Forward(l.strategy.updates(l.model), b)
	if !l.parametersChecked {
		l.parametersChecked, l.missing = true, missingParameters(l.model, prediction)
	}
	loss, divisor = mixture.loss(l.loss, prediction, b.Y)
	return prediction, loss, divisor
}

// placeholder computes the gradients of a batch and adds them with weight zero.
func (l *loop) placeholder(b data.Batch) {
	var loss *tensor.Tensor
	l.precision.cast(func() { loss = l.loss(Forward(l.strategy.updates(l.model), b), b.Y) })
	l.backward(loss, 0)
	loss.Release()
}

// backward adds the gradient of loss times share.
func (l *loop) backward(loss *tensor.Tensor, share float64) {
	part := loss
	if share < 1 {
		part = part.MulScalar(share)
	}
	part = l.precision.scale(part)
	part.Backward()
	if part != loss {
		part.Release()
	}
	if share < 1 {
		tensor.Flush() // otherwise the activations of all batches would be in memory at once
	}
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
		l.at.sum.add(measured)
	}
	s := history.Step{
		Epoch: m.epoch, Loss: loss, Accuracy: measured.right / measured.counted,
		LearningRate: m.rate, Seconds: time.Since(l.at.began).Seconds(), Skipped: m.skipped, LossScale: m.scale, GradNorm: m.norm,
	}
	l.record.Step(s, m.examples)
	return l.observers.step(s)
}

// explain converts the error of a step whose loss was not finite to a [DivergedError]; it
// returns other errors unchanged.
func (l *loop) explain(err error) error {
	if err == nil {
		return nil
	}
	var loss *tensor.NonFiniteError
	if !errors.As(err, &loss) {
		return l.divergence.locate(l.training(), err)
	}
	l.record.Step(history.Step{ // so that the history shows the loss
		Epoch: l.at.epoch, Loss: loss.Value, Accuracy: math.NaN(),
		LearningRate: l.learningRate(), Seconds: time.Since(l.at.began).Seconds(),
	}, 0)
	return l.divergence.findCause(l.training(), loss.Value)
}

// stepsDone returns the number of updates, including the one whose loss has not been read.
func (l *loop) stepsDone() int {
	n := len(l.run.Steps)
	if l.pending != nil {
		n++
	}
	return n
}

// validateIfDue validates if [ValidateEvery] asks for it after this step.
func (l *loop) validateIfDue(ctx context.Context) (stop bool, err error) {
	made := l.stepsDone()
	if l.settings.EvalEvery == 0 || l.settings.Validate == nil || made == 0 || made%l.settings.EvalEvery > 0 || l.pending == nil && validated(l.run) {
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
	if err := l.strategy.whole(); err != nil {
		return false, err
	}
	if err := l.strategy.broadcastBuffers(l.model); err != nil {
		return false, err
	}
	var result *history.Result
	func() {
		defer l.settings.judged().use()()
		l.precision.cast(func() {
			result, err = evaluate(ctx, l.model, l.settings.Validate, l.loss, l.settings.Metrics, l.strategy, nil)
		})
	}()
	l.run.Time.Validating += time.Since(begin)
	if err != nil {
		if _, ok := errors.AsType[*metrics.UndefinedError](err); ok {
			err = fmt.Errorf("accel: Validate(%s): %w", l.settings.Validate.Name(), err)
		}
		return false, err
	}
	newest := history.Validation{Step: len(l.run.Steps), Epoch: l.at.epoch, Loss: result.Loss(), Accuracy: result.Accuracy(), Metrics: result.Metrics()}
	if err := l.settings.Criterion.check(newest); err != nil {
		return false, err
	}
	l.record.Validation(newest, l.run.Best < 0 || l.settings.Criterion.better(newest, l.run.Validations[l.run.Best]))
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
	if !l.at.began.IsZero() {
		total = time.Since(l.at.began)
	}
	l.record.Finish(total)
	l.precision.note(l.record)
	if l.at.began.IsZero() {
		return
	}
	if waiting := l.run.Time.Waiting.Seconds() / total.Seconds(); waiting > inputBound && l.making >= l.waited && total > time.Second {
		l.record.Note("input-bound: %.0f %% of the time was spent waiting for data; Workers(%d) may help", 100*waiting, 2*max(1, l.settings.Workers))
	}
	if l.settings.judgesAverage() {
		l.record.Note("validations measured the average of the parameters (EMA), which Use gives to the model")
	}
	l.record.Failed(err)
}
