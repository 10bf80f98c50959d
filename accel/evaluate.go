package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// evaluationBatch is the number of examples that are evaluated at once.
const evaluationBatch = 512

// Evaluate measures the loss and the accuracy of a model on a set: by the loss that the
// model was trained with, see [Minimize], and before any training by [nn.CrossEntropy]
// for classes and [nn.MSE] for targets. The accuracy of sequences is that of their places.
// The model is in evaluation mode meanwhile. A loss that is no number is a result, which
// names what is not finite: an example, or a tensor of the model. Errors are as those of
// [Fit]; a set whose classes, columns or targets mean something else than those of the
// training is a [*data.MismatchError].
//
// What takes longer than a second shows a bar.
//
// It takes the options Minimize, [Like] and [DataParallel]. With the last, each rank of a group measures a part
// of the set, which all call it with, and all get the result of the whole: each example
// counts once, however many there are. Models or sets that are not the same on all ranks
// are refused.
func Evaluate(ctx context.Context, model nn.Module, set *data.Dataset, options ...Option) (result *Result, err error) {
	o, err := evaluateOptions(options)
	if err != nil {
		return nil, err
	}
	switch {
	case model == nil:
		return nil, errors.New("accel: Evaluate: the model is nil")
	case set == nil:
		return nil, errors.New("accel: Evaluate: the data set is nil: check the error returned where it was created")
	case set.Len() == 0:
		return nil, fmt.Errorf("accel: Evaluate: %s is empty", set.Name())
	}
	loss, err := o.lossFor(model, set)
	if err != nil {
		return nil, err
	}
	r := newStrategy(ctx, o.group)
	returned := false
	defer func() { r.leave("the evaluation", returned) }()
	if err = r.compareModels(ctx, model, set); err == nil {
		result, err = evaluate(ctx, model, set, loss, r, r.meter(ctx, set.Len()))
	}
	returned = true
	return result, err
}

// evaluate measures on all ranks together, each on a part of the set.
func evaluate(ctx context.Context, model nn.Module, set *data.Dataset, loss func(prediction, target *Tensor) *Tensor, r strategy, meter *display.Meter) (result *Result, err error) {
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	defer meter.End()
	begin := time.Now()
	result = &Result{set: set.Name(), examples: set.Len(), classes: set.Classes()}
	err = r.together(func() error { return evaluatePart(ctx, model, set, loss, r.shard(), result, meter) })
	if err == nil {
		err = r.sumResult(result)
	}
	if err != nil {
		return nil, err
	}
	result.loss /= float64(set.Len())
	result.accuracy /= float64(set.Len())
	if notANumber(result.loss) {
		if result.broken, err = firstBroken(ctx, set); err != nil {
			return nil, err
		}
	}
	if notANumber(result.loss) && result.broken == "" {
		for _, p := range nn.State(model) {
			if !finite(p.Tensor) {
				result.broken = p.Name + " is not finite"
				break
			}
		}
	}
	result.took = time.Since(begin)
	return result, nil
}

// evaluatePart adds a part of the set to the sums of a result.
func evaluatePart(ctx context.Context, model nn.Module, set *data.Dataset, loss func(prediction, target *Tensor) *Tensor, part data.Option, result *Result, meter *display.Meter) (err error) {
	defer nn.Catch(&err)
	var parts []*evaluated
	done := 0
	it := set.Batches(evaluationBatch, data.Context(ctx), part)
	for it.Next() {
		if it.Batch().Len() == 0 {
			continue
		}
		tensor.NoGrad(func() {
			parts = append(parts, evaluateBatch(model, it.Batch(), loss, set.Targets() == 0))
		})
		done += it.Batch().Len()
		meter.Set(float64(done), "")
	}
	if err := it.Err(); err != nil {
		return err
	}
	for _, p := range parts {
		p.addTo(result, set)
	}
	return nil
}

// evaluated is what one batch gave, as tensors that are not yet read.
type evaluated struct {
	index   []int
	loss    *Tensor
	right   *Tensor // how many are; nil for regression
	answer  *Tensor // the class of each example; nil unless there is one for each
	outputs int     // that an answer can be
}

func evaluateBatch(model nn.Module, b data.Batch, loss func(prediction, target *Tensor) *Tensor, classes bool) *evaluated {
	prediction := model.Forward(b.X)
	e := &evaluated{index: b.Index, loss: loss(prediction, b.Y)}
	e.right = rightAnswers(prediction, b.Y, classes)
	if e.right != nil && prediction.NDim() == 2 {
		e.answer, e.outputs = prediction.ArgMax(1), prediction.Size(1)
	}
	tensor.Flush()
	return e
}

// addTo reads the batch and adds it to the sums of a result.
func (e *evaluated) addTo(r *Result, set *data.Dataset) {
	r.loss += e.loss.Item() * float64(len(e.index))
	if e.right == nil {
		r.accuracy = math.NaN()
	} else {
		r.accuracy += e.right.Item()
	}
	if e.answer == nil {
		return
	}
	if r.counts == nil {
		r.counts = make([][]int, max(e.outputs, len(r.classes)))
		for c := range r.counts {
			r.counts[c] = make([]int, len(r.counts))
		}
	}
	for i, answer := range e.answer.Ints() {
		r.counts[set.Label(e.index[i])][answer]++
	}
}
