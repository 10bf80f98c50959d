package accel

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// step makes one update from the next batches, which together have the given number of
// examples. Each batch is weighted by its number of examples, so that the gradient equals that
// of one large batch.
func (l *loop) step(batches *data.Batches, examples int) (m *measurement, err error) {
	defer nn.Catch(&err)
	defer trace.Range(func() string { return fmt.Sprintf("step %d", l.stepsDone()+1) })()
	m = &measurement{epoch: l.epoch, examples: examples}
	l.divergence.nextStep()
	l.optimizer.ZeroGrad()
	for done := 0; done < examples; {
		if !batches.Next() {
			if err := batches.Err(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("accel: the data set %s ended after %d of the %d examples of a step: it must not change during the training", l.set.Name(), done, examples)
		}
		b := batches.Batch()
		if done += b.Whole; done < examples {
			l.forwardBackward(m, b)
		} else if err := l.strategy.lastBatch(l, m, func() { l.forwardBackward(m, b) }); err != nil {
			return nil, err
		}
	}
	if l.missing != nil {
		return nil, l.missing
	}
	m.rate = l.rate * l.schedule.Factor(l.scheduleStep)
	l.optimizer.SetLearningRate(m.rate)
	m.lossScale, m.made = l.precision.update(l.optimizer)
	l.scheduleStep++
	for _, after := range l.o.afterStep {
		if err := after(l.scheduleStep); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// forwardBackward adds the gradient of a batch to that of the step.
func (l *loop) forwardBackward(m *measurement, b data.Batch) {
	if b.Len() == 0 {
		l.strategy.idle(l)
		return
	}
	l.divergence.batch(b)
	var prediction, loss *Tensor
	l.precision.cast(func() {
		mixture := l.o.mix(&b)
		prediction = l.model.Forward(b.X)
		l.checkParameters(prediction)
		loss = l.strategy.loss(l.precision, mixture.loss(l.loss, prediction, b.Y))
	})
	m.add(loss, prediction, b, l.run.classes)
	l.backward(loss, float64(b.Len())/float64(m.examples))
}

// backward adds the gradient of loss times share.
func (l *loop) backward(loss *Tensor, share float64) {
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
func (l *loop) readPending(newest *measurement) error { return l.divergence.explain(l.read(newest)) }

func (l *loop) read(newest *measurement) (err error) {
	defer nn.Catch(&err)
	m := l.pending
	l.pending = newest
	if m == nil {
		return nil
	}
	loss, right := m.read()
	if err := l.strategy.groupError(); err != nil { // without the other ranks, what the GPU returned is undefined
		return err
	}
	if m.skipped {
		l.scheduleStep--
	}
	if !notANumber(loss) || !m.skipped {
		l.sum.add(loss, right, m.examples)
	}
	s := Step{
		Epoch: m.epoch, Loss: loss, Accuracy: right / float64(m.examples),
		LearningRate: m.rate, Seconds: time.Since(l.began).Seconds(), Skipped: m.skipped, LossScale: m.scale,
	}
	l.run.Steps = append(l.run.Steps, s)
	l.run.Examples += m.examples
	return l.observers.step(s)
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
	if l.o.evalEvery == 0 || l.o.validate == nil || made == 0 || made%l.o.evalEvery > 0 || l.pending == nil && l.run.validated() {
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
	if err := l.strategy.broadcastBuffers(l.model); err != nil {
		return false, err
	}
	var result *Result
	l.precision.cast(func() { result, err = evaluate(ctx, l.model, l.o.validate, l.loss, l.strategy, nil) })
	l.run.Time.Validating += time.Since(begin)
	if err != nil {
		return false, err
	}
	newest := Validation{Step: len(l.run.Steps), Epoch: l.epoch, Loss: result.Loss(), Accuracy: result.Accuracy()}
	l.run.Validations = append(l.run.Validations, newest)
	if l.run.Best < 0 || better(newest.Loss, l.run.Validations[l.run.Best].Loss) {
		l.run.Best = len(l.run.Validations) - 1
	}
	if err := l.observers.validation(newest); err != nil {
		return false, err
	}
	return l.stop()
}

// better reports whether loss is lower than the other loss; any number is better than NaN.
func better(loss, than float64) bool {
	return loss < than || math.IsNaN(than) && !math.IsNaN(loss)
}

// inputBound is the share of time waiting for data above which a run of more than a second gets
// a note.
const inputBound = 0.2

// end adds to the run how it ended, before the observers end.
func (l *loop) end(err error) {
	r := l.run
	r.finished = true
	l.precision.note(r)
	if l.began.IsZero() {
		return
	}
	now := time.Now()
	r.epochStarts = append(r.epochStarts, now)
	r.Time.Total = now.Sub(l.began)
	r.Time.Computing = max(0, r.Time.Total-r.Time.Waiting-r.Time.Validating)
	if waiting := r.Time.Waiting.Seconds() / r.Time.Total.Seconds(); waiting > inputBound && r.Time.Total > time.Second {
		r.note("input-bound: %.0f %% of the time was spent waiting for data; Workers(%d) may help", 100*waiting, 2*max(1, l.o.workers))
	}
	r.noteError(err)
}
