package accel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Result is what [Evaluate] measures.
type Result struct {
	set      string
	loss     float64
	accuracy float64
	examples int
	took     time.Duration
}

// Loss is the mean over the examples.
func (r *Result) Loss() float64 { return r.loss }

// Accuracy is the share of right answers, from 0 to 1, and NaN for regression.
func (r *Result) Accuracy() float64 { return r.accuracy }

// Len is the number of examples.
func (r *Result) Len() int { return r.examples }

// Seconds is the time that it took.
func (r *Result) Seconds() float64 { return r.took.Seconds() }

// String is the result in one line.
func (r *Result) String() string {
	text := fmt.Sprintf("%s: loss %s", r.set, number(r.loss))
	if r.accuracy == r.accuracy { // not NaN
		text += ", accuracy " + percent(r.accuracy)
	}
	return text + fmt.Sprintf(", %d examples, %s", r.examples, seconds(r.took))
}

// MIMEBundle shows the result as its line.
func (r *Result) MIMEBundle() map[string]any { return map[string]any{"text/plain": r.String()} }

// evaluationBatch is the number of examples that are evaluated at once.
const evaluationBatch = 512

// Evaluate measures the loss and the accuracy of a model on a set: by
// [nn.CrossEntropy] for classes and [nn.MSE] for targets. The model is in
// evaluation mode meanwhile, and in training mode after that. Errors are as
// those of [Fit].
func Evaluate(ctx context.Context, model nn.Module, set *data.Set) (*Result, error) {
	switch {
	case model == nil:
		return nil, errors.New("accel: Evaluate: there is no model")
	case set == nil:
		return nil, errors.New("accel: Evaluate: there is no set; was the error of making it read?")
	case set.Len() == 0:
		return nil, fmt.Errorf("accel: Evaluate: %s is empty", set.Name())
	}
	return evaluate(ctx, model, set, defaultLoss(set))
}

func evaluate(ctx context.Context, model nn.Module, set *data.Set, loss func(prediction, target *Tensor) *Tensor) (result *Result, err error) {
	defer nn.Catch(&err)
	defer evaluating(model)()
	begin := time.Now()
	var batches []*measurement
	it := set.Batches(evaluationBatch, data.Context(ctx))
	for it.Next() {
		b, m := it.Batch(), &measurement{examples: it.Batch().Len()}
		tensor.NoGrad(func() {
			prediction := model.Forward(b.X)
			m.add(loss(prediction, b.Y), prediction, b, set.Targets() == 0)
			tensor.Flush()
		})
		batches = append(batches, m)
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	var sum sums
	for _, m := range batches {
		loss, right := m.read()
		sum.add(loss, right, m.examples)
	}
	return &Result{set.Name(), sum.loss(), sum.accuracy(), sum.examples, time.Since(begin)}, nil
}

// evaluating puts a model into evaluation mode until the function that it
// returns is called.
func evaluating(model nn.Module) (after func()) {
	nn.Train(model, false)
	return func() { nn.Train(model, true) }
}

// Predict gives the model's output for x, whose first dimension counts the
// examples: logits [N, C] of a classifier, from which ArgMax(1) takes the
// classes. The model is in evaluation mode meanwhile. A large x is computed in
// parts. Errors are as those of [Fit].
func Predict(ctx context.Context, model nn.Module, x *Tensor) (y *Tensor, err error) {
	switch {
	case model == nil:
		return nil, errors.New("accel: Predict: there is no model")
	case x == nil:
		return nil, errors.New("accel: Predict: there is no input")
	case len(x.Shape()) == 0:
		return nil, errors.New("accel: Predict: the input is a single number; its first dimension must count the examples")
	}
	defer nn.Catch(&err)
	defer evaluating(model)()
	tensor.NoGrad(func() {
		n := x.Shape()[0]
		var parts []*Tensor
		for from := 0; from < n || from == 0; from += evaluationBatch {
			if err = context.Cause(ctx); err != nil {
				return
			}
			part := x
			if n > evaluationBatch {
				part = x.Slice(0, from, min(from+evaluationBatch, n))
			}
			parts = append(parts, model.Forward(part))
			tensor.Flush()
		}
		y = parts[0]
		if len(parts) > 1 {
			y = tensor.Concat(0, parts...)
		}
	})
	if err != nil {
		return nil, err
	}
	return y, nil
}
