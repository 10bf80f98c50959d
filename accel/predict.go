package accel

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// PredictOption changes how [Predict] and [PredictDataset] work.
type PredictOption struct {
	text string
	set  func(*predicting) error
}

// String returns the option as Go code.
func (o PredictOption) String() string { return o.text }

// PredictBatchSize sets how many examples are computed at once; the default is 512. Larger
// batches are faster until the CPU or the GPU is fully used; smaller ones need less memory.
func PredictBatchSize(examples int) PredictOption {
	text := fmt.Sprintf("PredictBatchSize(%d)", examples)
	return PredictOption{text, func(p *predicting) error {
		if examples < 1 {
			return fmt.Errorf("accel: %s: the batch size must be at least 1", text)
		}
		p.batchSize = examples
		return nil
	}}
}

// Progress sets a function that is called with the number of examples computed so far and the
// number of all examples. Without it, a call that takes longer than a second displays a
// progress bar.
func Progress(report func(done, all int)) PredictOption {
	return PredictOption{"Progress(…)", func(p *predicting) error {
		p.report = report
		return nil
	}}
}

// PredictParallel divides the examples of a data set among the ranks of a group. All ranks call
// [PredictDataset] with the same model and data set, which is verified, and all get the outputs
// of all examples. [Progress] then reports the rank's own part. [Predict] rejects this option.
func PredictParallel(group *parallel.Group) PredictOption {
	return PredictOption{"PredictParallel(group)", func(p *predicting) error {
		if group == nil {
			return errors.New("accel: PredictParallel(nil): the group is nil: check the error of parallel.Join")
		}
		p.group = group
		return nil
	}}
}

// predicting is one call of Predict or PredictDataset: its settings and results.
type predicting struct {
	call      string // name of the function, for errors
	model     nn.Module
	batchSize int
	report    func(done, all int)
	group     *parallel.Group // nil for one process

	meter       *display.Meter // nil if report is set
	done, total int
	outputs     []*Tensor // of the parts computed so far
}

func newPredicting(call string, model nn.Module, all int, options []PredictOption) (*predicting, error) {
	p := &predicting{call: call, model: model, batchSize: evaluationBatch, total: all}
	for _, o := range options {
		if o.set == nil {
			continue
		}
		if err := o.set(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Predict returns the output of the model for x, whose first dimension is the batch of
// examples. The output of a classifier is logits [N, C]: ArgMax(1) returns the classes and
// Softmax(1) the probabilities. The model is in evaluation mode during the call.
//
// Predict computes a large x in parts (see [PredictBatchSize]), and in smaller ones when memory
// runs out. The output of an example does not depend on its part, except for the order of
// floating-point additions, since the model must not mix examples. When ctx is done, Predict
// returns its error after the current part. Other errors are those of [Fit].
func Predict(ctx context.Context, model nn.Module, x *Tensor, options ...PredictOption) (y *Tensor, err error) {
	switch {
	case model == nil:
		return nil, errors.New("accel: Predict: the model is nil")
	case x == nil:
		return nil, errors.New("accel: Predict: the input is nil")
	case x.NDim() == 0:
		return nil, errors.New("accel: Predict: the input is a scalar, but its first dimension must be the batch of examples")
	}
	p, err := newPredicting("Predict", model, x.Size(0), options)
	if err != nil {
		return nil, err
	}
	if p.group != nil {
		return nil, errors.New("accel: Predict: PredictParallel needs PredictDataset, which verifies that all ranks have the same examples")
	}
	from := 0
	return p.run(ctx, func() (part, error) {
		begin := from
		from = min(from+p.batchSize, p.total)
		return part{x, begin, from}, nil
	})
}

// PredictDataset is [Predict] for the examples of a data set, in order, without their labels.
// It does not load the whole data set into memory. A data set whose columns differ from those
// that the model was trained with is a [*data.MismatchError].
func PredictDataset(ctx context.Context, model nn.Module, set *data.Dataset, options ...PredictOption) (y *Tensor, err error) {
	switch {
	case model == nil:
		return nil, errors.New("accel: PredictDataset: the model is nil")
	case set == nil:
		return nil, errors.New("accel: PredictDataset: the data set is nil: check the error returned where it was created")
	case set.Len() == 0:
		return nil, fmt.Errorf("accel: PredictDataset: %s is empty", set.Name())
	}
	p, err := newPredicting("PredictDataset", model, set.Len(), options)
	if err != nil {
		return nil, err
	}
	if t := trainedWith(model); t != nil {
		if err := t.schema.CheckColumns(set); err != nil {
			return nil, fmt.Errorf("accel: PredictDataset: %w", err)
		}
	}
	if r, ok := newStrategy(ctx, p.group).(*dataParallel); ok {
		return p.runOnRanks(r, set)
	}
	return p.runSet(ctx, set)
}

// runSet computes the examples of a data set.
func (p *predicting) runSet(ctx context.Context, set *data.Dataset) (*Tensor, error) {
	it := set.Batches(p.batchSize, data.Context(ctx))
	return p.run(ctx, func() (part, error) {
		if !it.Next() {
			return part{}, it.Err()
		}
		x := it.Batch().X
		return part{x, 0, x.Size(0)}, nil
	})
}

// part is a range of the examples of a tensor.
type part struct {
	of       *Tensor
	from, to int
}

// tensor returns the examples of the part.
func (p part) tensor() *Tensor {
	if p.from == 0 && p.to == p.of.Size(0) {
		return p.of
	}
	return p.of.Slice(0, p.from, p.to)
}

// run applies the model to the parts that next returns until all examples are computed, and
// concatenates the outputs.
func (p *predicting) run(ctx context.Context, next func() (part, error)) (y *Tensor, err error) {
	defer nn.Catch(&err)
	defer nn.Eval(p.model)()
	if p.report == nil && (p.group == nil || p.group.First()) {
		p.meter, _ = display.Measure(ctx, "examples", float64(p.total))
		defer p.meter.End()
	}
	tensor.Flush() // computes a lazy input now, so that it survives a part that fails
	for first := true; first || p.done < p.total; first = false {
		x, err := next()
		if err != nil {
			return nil, err
		}
		if err := p.compute(ctx, x); err != nil {
			return nil, err
		}
	}
	if len(p.outputs) == 1 {
		return p.outputs[0], nil
	}
	return tensor.Concat(0, p.outputs...), nil
}

// compute appends the output for a part. If memory runs out, it computes each half of the part.
func (p *predicting) compute(ctx context.Context, x part) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	n := x.to - x.from
	y, err := p.forward(x)
	if memory := (*OutOfMemoryError)(nil); errors.As(err, &memory) && n > 1 {
		middle := x.from + n/2
		if err := p.compute(ctx, part{x.of, x.from, middle}); err != nil {
			return err
		}
		return p.compute(ctx, part{x.of, middle, x.to})
	}
	if err != nil {
		return err
	}
	if y == nil {
		return fmt.Errorf("accel: %s: the model's output is nil", p.call)
	}
	if got := y.Shape(); len(got) == 0 || got[0] != n {
		return fmt.Errorf("accel: %s: the model returned shape %v for an input of shape %v; the first dimension of the output must be the %d examples of the batch (to predict a single example, make it a batch of one with Reshape(1, …))", p.call, got, x.tensor().Shape(), n)
	}
	p.outputs = append(p.outputs, y)
	p.done += n
	p.meter.Set(float64(p.done), "")
	if p.report != nil {
		p.report(p.done, p.total)
	}
	return nil
}

// forward returns the output of the model, already computed.
func (p *predicting) forward(x part) (y *Tensor, err error) {
	defer nn.Catch(&err)
	tensor.NoGrad(func() {
		y = p.model.Forward(x.tensor())
		tensor.Flush()
	})
	return y, nil
}
