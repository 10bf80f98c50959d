package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// Fit trains a model on a set. Without options it makes five passes in batches
// of 64 with AdamW at 1e-3.
//
// Examples come in an order that [Seed] fixes, another one in each epoch. The
// model is put into training mode, and left in it.
//
// Fit returns what was done, also with an error: when ctx is done, the run so
// far and the error of the context; when the loss stops being a number,
// [*DivergedError]; when the model cannot take the examples, an error that
// wraps [*ShapeError] and names the layer.
//
// The engine records for one goroutine at a time: a second Fit that is started
// meanwhile is refused with [ErrBusy], and Evaluate, Predict and loops of one's
// own must wait for Fit to return, unless they are part of the model's Forward.
func Fit(ctx context.Context, model nn.Module, train *data.Set, options ...Option) (run *Run, err error) {
	run = &Run{Best: -1}
	o, err := newOptions(options)
	if err != nil {
		return run, err
	}
	switch {
	case model == nil:
		return run, errors.New("accel: Fit: there is no model")
	case train == nil:
		return run, errors.New("accel: Fit: there is no training set; was the error of making it read?")
	case train.Len() == 0:
		return run, fmt.Errorf("accel: Fit: %s is empty", train.Name())
	}
	if !oneFit.TryLock() {
		return run, ErrBusy
	}
	defer oneFit.Unlock()
	f := newFitting(model, train, o, run)
	f.screen = newScreen(ctx, o, run)
	defer func() { // also when the model panics
		f.end(ctx, err)
		f.screen.close(run)
	}()
	return run, f.train(ctx)
}

// ErrBusy says that another Fit is running.
var ErrBusy = errors.New("accel: Fit: a model is being trained already; models are trained one after the other")

// oneFit is held by the Fit that runs.
var oneFit sync.Mutex

// DivergedError says that the loss of a step was NaN or infinite, after which
// the parameters are worth nothing.
type DivergedError struct {
	Step int     // from 1
	Loss float64 // what it was
}

// Error gives the step and what to try.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("accel: the loss of step %d is %v: try a lower learning rate, a longer warm-up or ClipNorm", e.Step, e.Loss)
}

// fitting is one call of Fit.
type fitting struct {
	o      *options
	model  nn.Module
	set    *data.Set
	loss   func(prediction, target *Tensor) *Tensor
	run    *Run
	screen *screen

	optimizer *optim.Optimizer
	schedule  optim.Schedule
	rate      float64 // before the schedule
	began     time.Time

	pending *measurement // of the newest step, not yet read
	best    weights      // of the best check, kept for EarlyStop
}

func newFitting(model nn.Module, train *data.Set, o *options, run *Run) *fitting {
	f := &fitting{o: o, model: model, set: train, loss: o.loss, run: run}
	if f.loss == nil {
		f.loss = defaultLoss(train)
	}
	perEpoch := rounded(rounded(train.Len(), o.batchSize), o.accumulate)
	planned := o.epochs * perEpoch
	if o.steps > 0 && (planned == 0 || o.steps < planned) {
		planned = o.steps
	}
	f.optimizer = o.optimizer(model, o.numbers...)
	f.rate = f.optimizer.LearningRate()
	f.schedule = optim.Constant()
	if o.schedule != nil {
		f.schedule = o.schedule(planned)
	}
	*run = Run{
		Set: train.Name(), Options: o.text, Seed: nextSeed(), Best: -1,
		planned: planned, metrics: o.live, classes: train.Targets() == 0,
	}
	if o.amp {
		run.Notes = append(run.Notes, fmt.Sprintf("AMP: computed in float32, since the device (the CPU) has no 16-bit products"))
	}
	return f
}

// rounded is n/size, rounded up.
func rounded(n, size int) int { return (n-1)/size + 1 }

func defaultLoss(s *data.Set) func(prediction, target *Tensor) *Tensor {
	if s.Targets() > 0 {
		return nn.MSE
	}
	return nn.CrossEntropy
}

// errStop ends training as planned: enough steps, or EarlyStop.
var errStop = errors.New("stop")

// train makes the epochs.
func (f *fitting) train(ctx context.Context) (err error) {
	defer nn.Catch(&err)
	nn.Train(f.model, true)
	f.began = time.Now()
	f.run.began = f.began
	for epoch := 1; len(f.run.Steps) < f.run.planned; epoch++ {
		if err := f.epoch(ctx, epoch); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// epoch makes one pass over the set.
func (f *fitting) epoch(ctx context.Context, epoch int) error {
	begin, first := time.Now(), len(f.run.Steps)
	f.run.epochStarts = append(f.run.epochStarts, begin)
	batches := f.set.Batches(f.o.batchSize, data.Context(ctx), data.Workers(f.o.workers),
		data.Shuffle(f.run.Seed), data.Round(epoch))
	var sum sums
	seen := 0
	err := func() error {
		for seen < f.set.Len() && f.issued() < f.run.planned {
			examples := min(f.o.batchSize*f.o.accumulate, f.set.Len()-seen)
			m, err := f.step(ctx, batches, epoch, examples)
			if err != nil {
				return err
			}
			seen += examples
			if err := f.settle(m, &sum); err != nil {
				return err
			}
			if f.o.evalEvery > 0 && f.issued()%f.o.evalEvery == 0 {
				if err := f.check(ctx, epoch, &sum); err != nil {
					return err
				}
			}
		}
		if err := f.settle(nil, &sum); err != nil {
			return err
		}
		last := len(f.run.Steps) == f.run.planned
		if f.o.validate != nil && (f.o.evalEvery == 0 || last && !f.checked()) {
			return f.check(ctx, epoch, &sum)
		}
		return nil
	}()
	f.run.Time.Waiting += batches.Waited()
	if len(f.run.Steps) > first {
		f.run.Epochs = append(f.run.Epochs, Epoch{
			Steps: len(f.run.Steps), Loss: sum.loss(), Accuracy: sum.accuracy(), Seconds: time.Since(begin).Seconds(),
		})
	}
	return err
}

// issued is the number of updates made, with the one whose loss is not yet
// read.
func (f *fitting) issued() int {
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
func (f *fitting) step(ctx context.Context, batches *data.Batches, epoch, examples int) (*measurement, error) {
	m := &measurement{epoch: epoch, examples: examples}
	f.optimizer.ZeroGrad()
	for done := 0; done < examples; {
		if !batches.Next() {
			if err := batches.Err(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("accel: %s ended after %d of %d examples", f.set.Name(), done, examples)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b := batches.Batch()
		prediction := f.model.Forward(b.X)
		loss := f.loss(prediction, b.Y)
		m.add(loss, prediction, b, f.run.classes)
		if share := float64(b.Len()) / float64(examples); share < 1 {
			loss = loss.MulScalar(share)
			defer loss.Release()
		}
		loss.Backward()
		done += b.Len()
		if done < examples {
			tensor.Flush() // else the activations of all batches would be in memory at once
		}
	}
	m.rate = f.rate * f.schedule.Factor(f.issued())
	f.optimizer.SetLearningRate(m.rate)
	f.optimizer.Step()
	return m, nil
}

// settle reads what the step before measured and remembers the newest: a
// device that works on its own is not waited for until it has more to do.
func (f *fitting) settle(newest *measurement, sum *sums) error {
	m := f.pending
	f.pending = newest
	if m == nil {
		return nil
	}
	loss, right := m.read()
	sum.add(loss, right, m.examples)
	s := Step{Epoch: m.epoch, Loss: loss, Accuracy: right / float64(m.examples), LearningRate: m.rate, Seconds: time.Since(f.began).Seconds()}
	f.run.Steps = append(f.run.Steps, s)
	f.run.Examples += m.examples
	f.run.Time.Total = time.Since(f.began)
	f.screen.offer(f.run)
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		f.pending = nil
		return &DivergedError{len(f.run.Steps), loss}
	}
	return nil
}

// check validates the model, and says with errStop that it has been patient
// enough.
func (f *fitting) check(ctx context.Context, epoch int, sum *sums) error {
	if err := f.settle(nil, sum); err != nil {
		return err
	}
	begin := time.Now()
	result, err := evaluate(ctx, f.model, f.o.validate, f.loss)
	nn.Train(f.model, true)
	f.run.Time.Validating += time.Since(begin)
	if err != nil {
		return err
	}
	f.run.Checks = append(f.run.Checks, Check{
		Step: len(f.run.Steps), Epoch: epoch, Loss: result.Loss(), Accuracy: result.Accuracy(),
	})
	newest := len(f.run.Checks) - 1
	if f.run.Best < 0 || result.Loss() < f.run.Checks[f.run.Best].Loss {
		f.run.Best = newest
		if f.o.patience > 0 {
			f.best = copyWeights(f.model)
		}
	}
	f.screen.offer(f.run)
	if f.o.patience > 0 && newest-f.run.Best >= f.o.patience {
		f.run.note("stopped early: the validation loss has not fallen in %s", plural(f.o.patience, "validation"))
		return errStop
	}
	return nil
}

// inputBound is the share of the time waiting for data from which a run of more
// than a second says so.
const inputBound = 0.2

// end brings the run to its end, however it came about.
func (f *fitting) end(ctx context.Context, err error) {
	r := f.run
	r.finished = true
	if f.began.IsZero() {
		return
	}
	r.Time.Total = time.Since(f.began)
	r.Time.Computing = max(0, r.Time.Total-r.Time.Waiting-r.Time.Validating)
	r.epochStarts = append(r.epochStarts, time.Now())
	if f.best != nil && r.Best < len(r.Checks)-1 || f.best != nil && err != nil {
		if restoring := f.best.restore(); restoring == nil {
			r.restored = true
			r.note("the model has the weights of epoch %d, step %d, with the lowest validation loss", r.Checks[r.Best].Epoch, r.Checks[r.Best].Step)
		} else {
			r.note("the best weights could not be restored: %v", restoring)
		}
	}
	if waiting := r.Time.Waiting.Seconds() / r.Time.Total.Seconds(); waiting > inputBound && r.Time.Total > time.Second {
		r.note("input-bound: %.0f %% of the time was spent waiting for data; Workers(%d) may help", 100*waiting, 2*max(1, f.o.workers))
	}
	var diverged *DivergedError
	switch {
	case errors.As(err, &diverged):
		r.note("stopped: the loss of step %d is %v", diverged.Step, diverged.Loss)
	case ctx.Err() != nil && err != nil:
		r.note("interrupted in step %d of %d: %v", len(r.Steps)+1, r.planned, err)
	case err != nil:
		r.note("failed in step %d of %d", len(r.Steps)+1, r.planned)
	}
}
