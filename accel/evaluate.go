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

// Evaluate measures the loss and the accuracy of a model on a data set. The loss is the one
// that the model was trained with (see [Minimize]); for a model that was not trained it is
// [nn.CrossEntropy] for classes and [nn.MSE] for targets. The accuracy of sequences is that of
// their tokens. The model is in evaluation mode during the call.
//
// A loss that is NaN or infinite is not an error; the result names the first example or tensor
// of the model that is not finite. Errors are those of [Fit]; a data set whose classes, columns
// or targets differ from those of the training is a [*data.MismatchError]. A call that takes
// longer than a second displays a progress bar.
//
// Evaluate accepts the options Minimize, [DerivedFrom] and [DataParallel]. With DataParallel
// all ranks call it with the same model and data set; each measures a part of the examples, and
// all get the result for the whole data set. Ranks whose models or data sets differ get an
// error.
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
	r := newProcesses(ctx, o.group)
	returned := false
	defer func() { r.release("the evaluation", returned) }()
	if err = r.compareModels(ctx, model, set); err == nil {
		result, err = evaluate(ctx, model, set, loss, r, r.meter(ctx, set.Len()))
	}
	returned = true
	return result, err
}

// evaluate measures on all ranks together, on a part of the data set each.
func evaluate(ctx context.Context, model nn.Module, set *data.Dataset, loss func(prediction, target *Tensor) *Tensor, r processes, meter *display.Meter) (result *Result, err error) {
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	defer meter.End()
	begin := time.Now()
	result = &Result{dataset: set.Name(), examples: set.Len(), classes: set.Classes()}
	err = r.runOnAll(func() error { return evaluatePart(ctx, model, set, loss, r.shard(), result, meter) })
	if err == nil {
		err = r.sumResult(result)
	}
	if err != nil {
		return nil, err
	}
	result.loss /= float64(set.Len())
	result.accuracy /= float64(set.Len())
	if notANumber(result.loss) {
		if result.nonFinite, err = firstNonFinite(ctx, set); err != nil {
			return nil, err
		}
	}
	if notANumber(result.loss) && result.nonFinite == "" {
		for _, p := range nn.State(model) {
			if !finite(p.Tensor) {
				result.nonFinite = p.Name + " is not finite"
				break
			}
		}
	}
	result.elapsed = time.Since(begin)
	return result, nil
}

// evaluatePart adds a part of the data set to the sums of a result.
func evaluatePart(ctx context.Context, model nn.Module, set *data.Dataset, loss func(prediction, target *Tensor) *Tensor, part data.Option, result *Result, meter *display.Meter) (err error) {
	defer nn.Catch(&err)
	var parts []*batchResult
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

// batchResult is the result of one batch, as tensors that have not been read yet.
type batchResult struct {
	index   []int
	loss    *Tensor
	right   *Tensor // number of correct predictions; nil for regression
	answer  *Tensor // predicted class of each example; nil unless each example has one class
	outputs int     // number of classes that can be predicted
}

func evaluateBatch(model nn.Module, b data.Batch, loss func(prediction, target *Tensor) *Tensor, classes bool) *batchResult {
	prediction := model.Forward(b.X)
	e := &batchResult{index: b.Index, loss: loss(prediction, b.Y)}
	e.right = rightAnswers(prediction, b.Y, classes)
	if e.right != nil && prediction.NDim() == 2 {
		e.answer, e.outputs = prediction.ArgMax(1), prediction.Size(1)
	}
	tensor.Flush()
	return e
}

// addTo reads the result of the batch and adds it to the sums of r.
func (e *batchResult) addTo(r *Result, set *data.Dataset) {
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

// firstNonFinite returns a description of the first example of a data set that is not finite,
// "" if there is none.
func firstNonFinite(ctx context.Context, set *data.Dataset) (where string, err error) {
	it := set.Batches(evaluationBatch, data.Context(ctx))
	for it.Next() {
		tensor.NoGrad(func() { _, where, err = nonFiniteExamples(set, it.Batch()) })
		if where != "" || err != nil {
			return where, err
		}
	}
	return "", it.Err()
}
