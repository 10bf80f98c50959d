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

// step makes one update from the next batches, which together have this many
// examples. Each batch weighs as much as it has examples, so that the gradient
// is that of the one large batch.
func (l *loop) step(batches *data.Batches, examples int) (m *measurement, err error) {
	defer nn.Catch(&err)
	defer trace.Range(func() string { return fmt.Sprintf("step %d", l.made()+1) })()
	m = &measurement{epoch: l.epoch, examples: examples}
	l.divergence.nextStep()
	l.optimizer.ZeroGrad()
	for done := 0; done < examples; {
		if !batches.Next() {
			if err := batches.Err(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("accel: %s ended after %d of %d examples", l.set.Name(), done, examples)
		}
		b := batches.Batch()
		if done += b.Whole; done < examples {
			l.learn(m, b)
		} else if err := l.strategy.lastBatch(l, m, func() { l.learn(m, b) }); err != nil {
			return nil, err
		}
	}
	if l.unseen != nil {
		return nil, l.unseen
	}
	m.rate = l.rate * l.schedule.Factor(l.advanced)
	l.optimizer.SetLearningRate(m.rate)
	m.lossScale, m.made = l.precision.update(l.optimizer)
	l.advanced++
	for _, after := range l.o.afterStep {
		if err := after(l.advanced); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// learn adds the gradient of a batch to that of the step.
func (l *loop) learn(m *measurement, b data.Batch) {
	if b.Len() == 0 {
		l.strategy.idle(l)
		return
	}
	l.divergence.batch(b)
	var prediction, loss *Tensor
	l.precision.cast(func() {
		mixture := l.o.mix(&b)
		prediction = l.model.Forward(b.X)
		l.look(prediction)
		loss = l.strategy.loss(l.precision, mixture.loss(l.loss, prediction, b.Y))
	})
	m.add(loss, prediction, b, l.run.classes)
	l.backward(loss, float64(b.Len())/float64(m.examples))
}

// backward adds the gradient of a share of the step's loss.
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
		tensor.Flush() // else the activations of all batches would be in memory at once
	}
}

// settle reads what the step before measured and remembers the newest: a
// device that works on its own is not waited for until it has more to do.
func (l *loop) settle(newest *measurement) error { return l.divergence.explain(l.read(newest)) }

func (l *loop) read(newest *measurement) (err error) {
	defer nn.Catch(&err)
	m := l.pending
	l.pending = newest
	if m == nil {
		return nil
	}
	loss, right := m.read()
	if err := l.strategy.lost(); err != nil { // what a GPU was still adding up is nothing then
		return err
	}
	if m.skipped {
		l.advanced--
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

// made returns the number of updates, with the one whose loss is not yet read.
func (l *loop) made() int {
	n := len(l.run.Steps)
	if l.pending != nil {
		n++
	}
	return n
}

// checkDue validates after the steps that [ValidateEvery] names.
func (l *loop) checkDue(ctx context.Context) (stop bool, err error) {
	made := l.made()
	if l.o.evalEvery == 0 || l.o.validate == nil || made == 0 || made%l.o.evalEvery > 0 || l.pending == nil && l.run.checked() {
		return false, nil
	}
	return l.check(ctx)
}

// check validates the model.
func (l *loop) check(ctx context.Context) (stop bool, err error) {
	if err := l.settle(nil); err != nil {
		return false, err
	}
	begin := time.Now()
	if err := l.strategy.measured(l.model); err != nil {
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
	if err := l.observers.check(newest); err != nil {
		return false, err
	}
	return l.stop()
}

// better reports whether a loss is lower than another; any is than NaN.
func better(loss, than float64) bool {
	return loss < than || math.IsNaN(than) && !math.IsNaN(loss)
}

// inputBound is the share of the time waiting for data from which a run of more
// than a second says so.
const inputBound = 0.2

// end enters into the run how it ended, before the observers end.
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
