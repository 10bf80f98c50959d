package loop

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// divergence ends a training whose loss is not finite, and finds the cause.
type divergence struct {
	history.NopObserver
	record            *history.Recorder
	forward           func(data.Batch) // computes the loss of a batch as a step does
	stopSynchronizing func()           // see strategy
	whole             func() error     // see strategy
	last              attempt          // the newest step
	indices           [2][]int         // the examples of the previous and of the newest step
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
func (d *divergence) Step(t *history.Training, s history.Step) error {
	if !notANumber(s.Loss) || s.Skipped && s.LossScale >= leastScale {
		return nil
	}
	return d.findCause(t, s.Loss)
}

// findCause returns the error of the newest step, whose loss is not finite, with where values
// first stopped being finite.
func (d *divergence) findCause(t *history.Training, loss float64) *history.DivergedError {
	_ = d.whole() // all ranks have the same loss; without the others, the error is still that of the loss
	e := &history.DivergedError{Step: len(t.Run.Steps), Loss: loss, Dataset: t.Dataset.Name()}
	if d.last.batch.X == nil { // this rank computed nothing
		return e
	}
	var err error
	if e.Examples, e.Tensor, err = nonFiniteExamples(t.Dataset, d.last.batch); err != nil {
		d.record.Note("could not check whether the examples are finite: %v", err)
	}
	if len(e.Examples) == 0 { // the loss may belong to an earlier batch, which was not kept
		e.Examples, e.Tensor, err = nonFiniteSource(t.Dataset, slices.Concat(d.indices[0], d.indices[1]))
		if err != nil {
			d.record.Note("could not check whether the examples are finite: %v", err)
		}
	}
	if len(e.Examples) == 0 {
		e.Tensor, e.Found = d.firstNotFinite(t)
	}
	return e
}

// locate names the layer and the example of an index that is out of range in the newest batch.
func (d *divergence) locate(t *history.Training, err error) error {
	if !locatable(err) || d.last.batch.X == nil {
		return err
	}
	d.stopSynchronizing()
	return locate(err, t.Model, t.Dataset, d.last.batch, d.forward)
}

// firstNotFinite finds the first non-finite tensor of the last attempt. The model still has the
// weights from before the attempt and keeps them.
func (d *divergence) firstNotFinite(t *history.Training) (name string, found *tensor.NonFinite) {
	for _, p := range nn.State(t.Model) {
		if !finite(p.Tensor) {
			return p.Name, nil
		}
	}
	d.stopSynchronizing()
	measured := CopyWeights(t.Model) // BatchNorm updates its running means in this pass
	seed, drawn := (*tensor.Generator)(nil).State()
	err := func() (err error) {
		defer nn.Catch(&err)
		(*tensor.Generator)(nil).SetState(d.last.seed, d.last.drawn)
		found = tensor.FindNonFinite(func() { d.forward(d.last.batch) })
		return nil
	}()
	(*tensor.Generator)(nil).SetState(seed, drawn)
	if err = errors.Join(err, measured.Restore(t.Model)); err != nil {
		d.record.Note("could not find the first tensor that is not finite: %v", err)
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

// nonFiniteExamples returns the indices of the examples of a batch whose input or targets are
// not finite, and a description of the first such value.
func nonFiniteExamples(set *data.Dataset, b data.Batch) (examples []int, where string, err error) {
	defer nn.Catch(&err)
	if finite(b.X) && finite(b.Y) {
		return nil, "", nil
	}
	for _, t := range []*tensor.Tensor{b.X, b.Y} {
		if !t.DType().IsFloat() {
			continue
		}
		values := t.Float64s()
		size := len(values) / max(len(b.Index), 1)
		for row, index := range b.Index {
			at := slices.IndexFunc(values[row*size:(row+1)*size], notANumber)
			if at < 0 || slices.Contains(examples, index) {
				continue
			}
			if examples = append(examples, index); where == "" {
				where = describeNonFinite(set, index, at, t == b.Y, values[row*size+at])
			}
		}
	}
	return examples, where + others(len(examples)), nil
}

// describeNonFinite says where an example is not finite.
func describeNonFinite(set *data.Dataset, index, at int, target bool, v float64) string {
	what, names := "number", set.Schema().Columns
	if target {
		what, names = "target", set.Schema().Targets
	}
	if at < len(names) {
		what = "column"
		if target {
			what = "target"
		}
		what += fmt.Sprintf(" %q", names[at])
	} else {
		what += fmt.Sprintf(" %d", at)
	}
	text := fmt.Sprintf("example %d of %s: %s is %v", index, set.Name(), what, v)
	if !target && !slices.ContainsFunc(set.Example(index), func(x float32) bool { return notANumber(float64(x)) }) {
		text += " after its transforms"
	}
	return text
}

// nonFiniteSource is [nonFiniteExamples] for the stored examples, before transforms.
func nonFiniteSource(set *data.Dataset, indices []int) (examples []int, where string, err error) {
	part, err := set.Subset(indices)
	if err != nil {
		return nil, "", err
	}
	defer func() { // a file that cannot be read panics
		if p, ok := recover().(error); ok {
			err = p
		}
	}()
	for i, index := range indices {
		for target, values := range [][]float32{part.Example(i), part.Target(i)} {
			at := slices.IndexFunc(values, func(x float32) bool { return notANumber(float64(x)) })
			if at < 0 || slices.Contains(examples, index) {
				continue
			}
			if examples = append(examples, index); where == "" {
				where = describeNonFinite(set, index, at, target == 1, float64(values[at]))
			}
		}
	}
	return examples, where + others(len(examples)), nil
}

// others counts the further examples that are not finite.
func others(n int) string {
	switch {
	case n < 2:
		return ""
	case n == 2:
		return "; one more example is not finite"
	}
	return fmt.Sprintf("; %d more examples are not finite", n-1)
}

// finite reports whether all elements of a tensor are finite.
func finite(t *tensor.Tensor) (yes bool) {
	if !t.DType().IsFloat() {
		return true
	}
	tensor.NoGrad(func() { yes = t.MulScalar(0).Sum().Item() == 0 }) // x·0 is NaN if x is NaN or infinite
	return yes
}

// notANumber reports whether a loss is NaN or infinite.
func notANumber(loss float64) bool { return math.IsNaN(loss) || math.IsInf(loss, 0) }
