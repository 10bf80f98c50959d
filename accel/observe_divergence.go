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

// DivergedError reports that the loss of a step was NaN or infinite. The model has the weights
// from before that step.
type DivergedError struct {
	Step int     // from 1
	Loss float64 // NaN or infinite
	// Dataset is the name of the training set. Examples are the indices of the examples in the
	// batch that are not finite; empty if all are finite.
	Dataset  string
	Examples []int
	// Tensor is the first tensor of the step that is not finite: "example 17 of" with the name
	// of the data set and the position in the example, the name of a model tensor as in
	// nn.State, or "the output of" an op with its layer; "" if it could not be found.
	Tensor string
	// Found has details of Tensor, or is nil.
	Found *tensor.NonFinite
}

// Error names the step, the cause if it was found, and what to try.
func (e *DivergedError) Error() string {
	if len(e.Examples) > 0 {
		return fmt.Sprintf("accel: the loss of step %d is %v because %s: correct the data, or remove such examples", e.Step, e.Loss, e.Tensor)
	}
	where := ""
	if e.Tensor != "" {
		where = fmt.Sprintf("; the first tensor that is not finite is %s", e.Tensor)
	}
	return fmt.Sprintf("accel: the loss of step %d is %v%s: try a lower learning rate, a longer warm-up or ClipGradNorm", e.Step, e.Loss, where)
}

// divergence ends a training whose loss is not finite, and finds the cause. It also explains
// the error of a step that fails on the device because of its loss.
type divergence struct {
	ownObserver
	loop    *loop
	last    attempt  // the newest step
	indices [2][]int // the examples of the previous and of the newest step
}

// attempt is the input of a step, for finding out why it failed.
type attempt struct {
	batch       data.Batch
	seed, drawn uint64 // state of the random numbers before the step
}

// nextStep begins a step.
func (d *divergence) nextStep() { d.indices = [2][]int{d.indices[1], nil} }

// batch records a batch of the step and the state of the random numbers.
func (d *divergence) batch(b data.Batch) {
	d.last.batch = b
	d.last.seed, d.last.drawn = (*tensor.Generator)(nil).State()
	d.indices[1] = append(d.indices[1], b.Index...)
}

// Step fails if the loss is not finite, unless float16 gradients overflowed and the step was
// skipped.
func (d *divergence) Step(t *Training, s Step) error {
	if !notANumber(s.Loss) || s.Skipped && s.LossScale >= leastScale {
		return nil
	}
	d.loop.pending = nil
	return d.findCause(&DivergedError{Step: len(t.Run.Steps), Loss: s.Loss})
}

// explain converts the error of a step whose loss was not finite to a DivergedError, and finds
// the cause; it returns other errors unchanged.
func (d *divergence) explain(err error) error {
	var loss *tensor.NonFiniteError
	if !errors.As(err, &loss) {
		return err
	}
	l := d.loop
	l.run.Steps = append(l.run.Steps, Step{ // so that the history shows the loss
		Epoch: l.epoch, Loss: loss.Value, Accuracy: math.NaN(),
		LearningRate: l.rate * l.schedule.Factor(l.scheduleStep), Seconds: time.Since(l.began).Seconds(),
	})
	return d.findCause(&DivergedError{Step: len(l.run.Steps), Loss: loss.Value})
}

// findCause adds to e where values first stopped being finite.
func (d *divergence) findCause(e *DivergedError) *DivergedError {
	l := d.loop
	e.Dataset = l.set.Name()
	if d.last.batch.X == nil { // this rank computed nothing
		return e
	}
	var err error
	if e.Examples, e.Tensor, err = nonFiniteExamples(l.set, d.last.batch); err != nil {
		l.run.note("could not check whether the examples are finite: %v", err)
	}
	if len(e.Examples) == 0 { // the loss may belong to an earlier batch, which was not kept
		e.Examples, e.Tensor, err = nonFiniteSource(l.set, slices.Concat(d.indices[0], d.indices[1]))
		if err != nil {
			l.run.note("could not check whether the examples are finite: %v", err)
		}
	}
	if len(e.Examples) == 0 {
		e.Tensor, e.Found = d.firstNotFinite()
	}
	return e
}

// firstNotFinite finds the first non-finite tensor of the last attempt. The model still has the
// weights from before the attempt and keeps them.
func (d *divergence) firstNotFinite() (name string, found *tensor.NonFinite) {
	l := d.loop
	for _, p := range nn.State(l.model) {
		if !finite(p.Tensor) {
			return p.Name, nil
		}
	}
	l.strategy.stopSynchronizing()
	measured := copyWeights(l.model) // BatchNorm updates its running means in this pass
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
		l.run.note("could not find the first tensor that is not finite: %v", err)
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

// finite reports whether all elements of a tensor are finite.
func finite(t *Tensor) (yes bool) {
	if !t.DType().IsFloat() {
		return true
	}
	tensor.NoGrad(func() { yes = t.MulScalar(0).Sum().Item() == 0 }) // x·0 is NaN if x is NaN or infinite
	return yes
}

// notANumber reports whether a loss is NaN or infinite.
func notANumber(loss float64) bool { return math.IsNaN(loss) || math.IsInf(loss, 0) }
