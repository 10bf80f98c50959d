package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Evaluate measures a model on a data set, both of which have been checked, with the loss, the metrics and the ranks of
// the settings.
func Evaluate(ctx context.Context, model nn.Module, set *data.Dataset, o *Settings) (result *history.Result, err error) {
	loss, err := o.lossFor(model, set)
	if err != nil {
		return nil, Reject(ctx, o.Group, err)
	}
	r := newProcesses(ctx, o.Group)
	returned := false
	defer func() { r.release("the evaluation", returned) }()
	if err = r.compareModels(ctx, model, set); err == nil {
		result, err = evaluate(ctx, model, set, loss, o.Metrics, r, r.meter(ctx, set.Len()))
	}
	returned = true
	if _, ok := errors.AsType[*metrics.UndefinedError](err); ok {
		err = fmt.Errorf("accel: Evaluate: %s: %w", set.Name(), err)
	}
	return result, err
}

// evaluate measures on all ranks together, on a part of the data set each.
func evaluate(ctx context.Context, model nn.Module, set *data.Dataset, loss func(prediction, target *tensor.Tensor) *tensor.Tensor, given []metrics.Metric, r processes, meter *display.Meter) (result *history.Result, err error) {
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	defer meter.End()
	begin := time.Now()
	found := history.Measurements{Dataset: set.Name(), Examples: set.Len(), Classes: set.Classes()}
	m, err := newMeasures(set, given)
	if err != nil {
		return nil, err
	}
	var total weightedLoss
	err = r.runOnAll(func() error { return evaluatePart(ctx, model, set, loss, r.shard(), &total, m, meter) })
	if err == nil {
		total, m, err = r.sumResult(total, m)
	}
	if err == nil {
		err = r.runOnAll(func() error { return m.addTo(&found) })
	}
	if err != nil {
		return nil, err
	}
	if total.weight > 0 { // without classes that count, the loss is 0
		found.Loss = total.sum / total.weight
	}
	if notANumber(found.Loss) {
		if found.NonFinite, err = firstNonFinite(ctx, set); err != nil {
			return nil, err
		}
	}
	if notANumber(found.Loss) && found.NonFinite == "" {
		for _, p := range nn.State(model) {
			if !finite(p.Tensor) {
				found.NonFinite = p.Name + " is not finite"
				break
			}
		}
	}
	found.Elapsed = time.Since(begin)
	return history.NewResult(found), nil
}

// evaluatePart adds a part of the data set to the loss and to the measures.
func evaluatePart(ctx context.Context, model nn.Module, set *data.Dataset, loss func(prediction, target *tensor.Tensor) *tensor.Tensor, part data.Option, total *weightedLoss, m *measures, meter *display.Meter) (err error) {
	var newest data.Batch
	defer func() {
		err = locate(err, model, set, newest, func(b data.Batch) { loss(Forward(model, b), b.Y) })
	}()
	defer nn.Catch(&err)
	var losses []*tensor.Tensor // of the batches; read at the end, so that a GPU does not wait
	var examples []float64
	var divisors []*tensor.Tensor // instead of examples, if losses are not means over examples; nil for those that are
	scores := answersTo(set, loss)
	done := 0
	it := set.Batches(evaluationBatch, data.Context(ctx), part)
	for it.Next() {
		if it.Batch().Len() == 0 {
			continue
		}
		tensor.NoGrad(func() {
			b := it.Batch()
			newest = b
			prediction := Forward(model, b)
			value, divisor := lossAndDivisor(loss, prediction, b.Y)
			scored := scores.in(prediction, value)
			if divisor == nil && b.Ignores {
				divisor = countedPositions(b.Y)
			}
			losses, examples, divisors = append(losses, value), append(examples, float64(b.Len())), append(divisors, divisor)
			err = m.update(prediction, b, scored)
			tensor.Flush()
		})
		if err != nil {
			return err
		}
		done += it.Batch().Len()
		meter.Set(float64(done), "")
	}
	if err := it.Err(); err != nil {
		return err
	}
	for i, l := range losses {
		weight := examples[i]
		if divisors[i] != nil {
			weight = divisors[i].Item()
		}
		if weight > 0 { // otherwise the loss of the batch may be NaN
			total.sum += l.Item() * weight
			total.weight += weight
		}
	}
	return nil
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
