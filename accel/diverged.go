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

// attempt is what a step was given, so that it can be looked into if it fails.
type attempt struct {
	batch       data.Batch
	seed, drawn uint64 // of the random numbers, before it
}

// begin remembers a batch and where the random numbers are.
func (a *attempt) begin(b data.Batch) {
	a.batch = b
	a.seed, a.drawn = (*tensor.Generator)(nil).State()
}

// diverged makes a DivergedError of the error of a step whose loss was watched,
// and looks for where it began; other errors stay as they are.
func (f *fitting) diverged(err error) error {
	var loss *tensor.NonFiniteError
	if !errors.As(err, &loss) {
		return err
	}
	f.run.Steps = append(f.run.Steps, Step{ // whose loss the history shows
		Epoch: f.epoch, Loss: loss.Value, Accuracy: math.NaN(),
		LearningRate: f.rate * f.schedule.Factor(f.advanced), Seconds: time.Since(f.began).Seconds(),
	})
	return f.findCause(&DivergedError{Step: len(f.run.Steps), Loss: loss.Value})
}

// findCause says where the numbers of the last attempt stopped being finite.
func (f *fitting) findCause(e *DivergedError) *DivergedError {
	e.Dataset = f.set.Name()
	if f.last.batch.X == nil { // nothing was computed on this rank
		return e
	}
	var err error
	if e.Examples, e.Tensor, err = brokenExamples(f.set, f.last.batch); err != nil {
		f.run.note("whether the examples are finite could not be found: %v", err)
	}
	if len(e.Examples) == 0 { // the loss may be of a batch before, which is not kept
		e.Examples, e.Tensor, err = brokenIn(f.set, slices.Concat(f.indices[0], f.indices[1]))
		if err != nil {
			f.run.note("whether the examples are finite could not be found: %v", err)
		}
	}
	if len(e.Examples) == 0 {
		e.Tensor, e.Found = f.firstNotFinite()
	}
	return e
}

// firstNotFinite looks for the first tensor of the last attempt that is not
// finite. The model is as it was before it, and stays so.
func (f *fitting) firstNotFinite() (name string, found *tensor.NonFinite) {
	for _, p := range nn.State(f.model) {
		if !finite(p.Tensor) {
			return p.Name, nil
		}
	}
	f.ranks.alone()
	measured := copyWeights(f.model) // since BatchNorm goes on measuring
	seed, drawn := (*tensor.Generator)(nil).State()
	err := func() (err error) {
		defer nn.Catch(&err)
		(*tensor.Generator)(nil).SetState(f.last.seed, f.last.drawn)
		found = tensor.FindNonFinite(func() {
			f.o.cast(func() {
				b := f.last.batch
				mixture := f.o.mix(&b)
				mixture.loss(f.loss, f.model.Forward(b.X), b.Y)
			})
		})
		return nil
	}()
	(*tensor.Generator)(nil).SetState(seed, drawn)
	if err = errors.Join(err, measured.restore(f.model)); err != nil {
		f.run.note("where the loss became no number could not be found: %v", err)
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

// finite tells whether all elements of a tensor are.
func finite(t *Tensor) (yes bool) {
	if !t.DType().IsFloat() {
		return true
	}
	tensor.NoGrad(func() { yes = t.MulScalar(0).Sum().Item() == 0 }) // NaN for what is no number
	return yes
}

// notANumber tells whether a loss is NaN or infinite.
func notANumber(loss float64) bool { return math.IsNaN(loss) || math.IsInf(loss, 0) }
