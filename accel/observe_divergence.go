package accel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// DivergedError says that the loss of a step was NaN or infinite. The step was
// not made: the model has the weights that it had before it.
type DivergedError struct {
	Step int     // from 1
	Loss float64 // what it was
	// Dataset is the name of the training set, and Examples are the indices of those of its
	// examples in the batch that are no finite numbers; empty where all are finite.
	Dataset  string
	Examples []int
	// Tensor is the first tensor of the step that is no finite number: "example 17
	// of", the name of the set and where in the example, the name of one of the model's, as in nn.State, or "the output
	// of" the op that made it, with the layer that it is in; "" where it was not
	// found again.
	Tensor string
	// Found says more of it, or is nil.
	Found *tensor.NonFinite
}

// Error gives the step and what to try.
func (e *DivergedError) Error() string {
	if len(e.Examples) > 0 {
		return fmt.Sprintf("accel: the loss of step %d is %v: %s: correct the data, or leave such examples out", e.Step, e.Loss, e.Tensor)
	}
	where := ""
	if e.Tensor != "" {
		where = fmt.Sprintf("; the first tensor that is not finite is %s", e.Tensor)
	}
	return fmt.Sprintf("accel: the loss of step %d is %v%s: try a lower learning rate, a longer warm-up or ClipGradNorm", e.Step, e.Loss, where)
}

// divergence ends a training whose loss is no number, and looks for where that began. It
// is also asked to explain the error with which a step fails on the device.
type divergence struct {
	ownObserver
	loop    *loop
	last    attempt  // of the newest step
	indices [2][]int // of the examples of the step before and of the newest
}

// attempt is what a step was given, so that it can be looked into if it fails.
type attempt struct {
	batch       data.Batch
	seed, drawn uint64 // of the random numbers, before it
}

// nextStep begins a step.
func (d *divergence) nextStep() { d.indices = [2][]int{d.indices[1], nil} }

// batch remembers a batch of the step and where the random numbers are.
func (d *divergence) batch(b data.Batch) {
	d.last.batch = b
	d.last.seed, d.last.drawn = (*tensor.Generator)(nil).State()
	d.indices[1] = append(d.indices[1], b.Index...)
}

// Step fails where the loss is no number, unless the step was skipped because of the
// gradients of float16.
func (d *divergence) Step(t *Training, s Step) error {
	if !notANumber(s.Loss) || s.Skipped && s.LossScale >= leastScale {
		return nil
	}
	d.loop.pending = nil
	return d.findCause(&DivergedError{Step: len(t.Run.Steps), Loss: s.Loss})
}

// explain makes a DivergedError of the error of a step whose loss was watched,
// and looks for where it began; other errors stay as they are.
func (d *divergence) explain(err error) error {
	var loss *tensor.NonFiniteError
	if !errors.As(err, &loss) {
		return err
	}
	l := d.loop
	l.run.Steps = append(l.run.Steps, Step{ // whose loss the history shows
		Epoch: l.epoch, Loss: loss.Value, Accuracy: math.NaN(),
		LearningRate: l.rate * l.schedule.Factor(l.advanced), Seconds: time.Since(l.began).Seconds(),
	})
	return d.findCause(&DivergedError{Step: len(l.run.Steps), Loss: loss.Value})
}

// findCause says where the numbers of the last attempt stopped being finite.
func (d *divergence) findCause(e *DivergedError) *DivergedError {
	l := d.loop
	e.Dataset = l.set.Name()
	if d.last.batch.X == nil { // nothing was computed on this rank
		return e
	}
	var err error
	if e.Examples, e.Tensor, err = brokenExamples(l.set, d.last.batch); err != nil {
		l.run.note("whether the examples are finite could not be found: %v", err)
	}
	if len(e.Examples) == 0 { // the loss may be of a batch before, which is not kept
		e.Examples, e.Tensor, err = brokenIn(l.set, slices.Concat(d.indices[0], d.indices[1]))
		if err != nil {
			l.run.note("whether the examples are finite could not be found: %v", err)
		}
	}
	if len(e.Examples) == 0 {
		e.Tensor, e.Found = d.firstNotFinite()
	}
	return e
}

// firstNotFinite looks for the first tensor of the last attempt that is not
// finite. The model is as it was before it, and stays so.
func (d *divergence) firstNotFinite() (name string, found *tensor.NonFinite) {
	l := d.loop
	for _, p := range nn.State(l.model) {
		if !finite(p.Tensor) {
			return p.Name, nil
		}
	}
	l.strategy.alone()
	measured := copyWeights(l.model) // since BatchNorm goes on measuring
	seed, drawn := (*tensor.Generator)(nil).State()
	err := func() (err error) {
		defer nn.Catch(&err)
		(*tensor.Generator)(nil).SetState(d.last.seed, d.last.drawn)
		found = tensor.FindNonFinite(func() {
			l.precision.cast(func() {
				b := d.last.batch
				mixture := l.o.mix(&b)
				mixture.loss(l.loss, l.model.Forward(b.X), b.Y)
			})
		})
		return nil
	}()
	(*tensor.Generator)(nil).SetState(seed, drawn)
	if err = errors.Join(err, measured.restore(l.model)); err != nil {
		l.run.note("where the loss became no number could not be found: %v", err)
		return "", nil
	}
	if found == nil {
		return "", nil
	}
	first := found
	if found.Before != nil {
		first = found.Before
	}
	name = "the output of " + first.Op
	if first.Layer != "" {
		name += fmt.Sprintf(" in layer %s, %s", first.Layer, first.Kind)
	}
	return name, found
}

// finite reports whether all elements of a tensor are.
func finite(t *Tensor) (yes bool) {
	if !t.DType().IsFloat() {
		return true
	}
	tensor.NoGrad(func() { yes = t.MulScalar(0).Sum().Item() == 0 }) // NaN for what is no number
	return yes
}

// notANumber reports whether a loss is NaN or infinite.
func notANumber(loss float64) bool { return math.IsNaN(loss) || math.IsInf(loss, 0) }
