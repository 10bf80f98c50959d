package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// stepper computes the steps of a training. The strategy decides where a step runs, and the
// precision in which element types.
type stepper struct {
	*history.Training
	loss       func(prediction, target *Tensor) *Tensor
	answers    answers
	mixer      mixer
	strategy   strategy
	precision  *precision
	divergence *divergence // records the batches
	watch      stepWatcher // nil with NoChecks
	optimizer  *optim.Optimizer
	schedule   optim.Schedule
	rate       float64 // learning rate before the schedule
	afterStep  []func(updates int) error

	scheduleStep      int   // schedule position: steps so far that are not known to be skipped
	torn              bool  // a step has begun, and has changed the model or the random numbers, but has not ended
	missing           error // the first batch used parameters that the optimizer does not have
	parametersChecked bool  // missing has been computed
}

// stepWatcher sees what a step computes.
type stepWatcher interface {
	// forward is called between the forward and the backward pass of each batch.
	forward(b data.Batch, prediction, loss *Tensor)
	// updated is called after the update of the given number, from 1.
	updated(number int)
	// trained is called after the last update, while its gradients are there.
	trained()
}

// step makes the update of the given number, from 1, from the next batches, which together have
// the given number of examples. Each batch is weighted by what its loss was divided by, the number of
// its examples, of classes that are not [data.Ignored], or a sum of weights, so that the gradient
// equals that of one large batch. If the update was made, but a function of [AfterStep] fails, step
// returns the measurement with the error.
func (s *stepper) step(batches *data.Batches, number, examples int) (made *measurement, err error) {
	defer nn.Catch(&err)
	defer trace.Range(func() string { return fmt.Sprintf("step %d", number) })()
	m := &measurement{examples: examples}
	s.divergence.nextStep()
	s.optimizer.ZeroGrad()
	for done := 0; done < examples; {
		if !batches.Next() {
			if err := batches.Err(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("accel: the data set %s ended after %d of the %d examples of a step: it must not change during the training", s.Dataset.Name(), done, examples)
		}
		b := batches.Batch()
		s.torn = true
		m.several = s.Run.Ranks > 1 || b.Whole < examples
		if done += b.Whole; done < examples {
			s.forwardBackward(m, b)
		} else if err := s.strategy.lastBatch(s.precision, m, func() { s.forwardBackward(m, b) }); err != nil {
			return nil, err
		}
	}
	if s.missing != nil {
		return nil, s.missing
	}
	m.normalize(nn.Parameters(s.Model))
	m.rate = s.learningRate()
	s.optimizer.SetLearningRate(m.rate)
	m.lossScale, m.made = s.precision.update(s.optimizer)
	if s.watch != nil {
		s.watch.updated(number)
	}
	m.gradNorm = s.optimizer.GradNorm()
	s.scheduleStep++
	made = m
	for _, after := range s.afterStep {
		err = joinErrors(err, after(s.scheduleStep))
	}
	s.torn = false
	return made, err
}

// learningRate returns the learning rate of the current step.
func (s *stepper) learningRate() float64 { return s.rate * s.schedule.Factor(s.scheduleStep) }

// forwardBackward adds the gradient of a batch to that of the step.
func (s *stepper) forwardBackward(m *measurement, b data.Batch) {
	if b.Len() == 0 {
		s.strategy.idle(s.placeholder)
		return
	}
	s.divergence.batch(b)
	var prediction, loss, divisor *Tensor
	s.precision.cast(func() {
		prediction, loss, divisor = s.forward(b)
		if s.watch != nil {
			s.watch.forward(b, prediction, loss)
		}
		loss = s.strategy.loss(s.precision, loss)
	})
	m.add(loss, divisor, prediction, b, s.answers.in(prediction, loss))
	if !m.several || m.divisors == nil {
		s.backward(loss, float64(b.Len())/float64(m.examples))
		return
	}
	by := m.divisors[len(m.divisors)-1].Cast(loss.DType())
	share := by.MulScalar(1 / float64(m.examples)) // until normalize divides by the mean of all batches
	weighted := loss.Mul(share)
	s.backward(weighted, 1)
	for _, t := range []*Tensor{weighted, share, by} {
		t.Release()
	}
	tensor.Flush()
}

// forward computes the prediction and the loss of a batch, and what the loss was divided by; nil for the
// number of examples.
func (s *stepper) forward(b data.Batch) (prediction, loss, divisor *Tensor) {
	mixture := s.mixer.mix(&b)
	prediction = forward(s.Model, b)
	if !s.parametersChecked {
		s.parametersChecked, s.missing = true, missingParameters(s.Model, prediction)
	}
	loss, divisor = mixture.loss(s.loss, prediction, b.Y)
	return prediction, loss, divisor
}

// placeholder computes the gradients of a batch and adds them with weight zero.
func (s *stepper) placeholder(b data.Batch) {
	var loss *Tensor
	s.precision.cast(func() { loss = s.loss(forward(s.Model, b), b.Y) })
	s.backward(loss, 0)
	loss.Release()
}

// backward adds the gradient of loss times share.
func (s *stepper) backward(loss *Tensor, share float64) {
	part := loss
	if share < 1 {
		part = part.MulScalar(share)
	}
	part = s.precision.scale(part)
	part.Backward()
	if part != loss {
		part.Release()
	}
	if share < 1 {
		tensor.Flush() // otherwise the activations of all batches would be in memory at once
	}
}
