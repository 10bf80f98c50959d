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

// PredictOption changes how [Predict] and [PredictDataset] go through the examples.
type PredictOption struct {
	text string
	set  func(*predicting) error
}

// String returns the option as it is written in Go.
func (o PredictOption) String() string { return o.text }

// PredictBatchSize returns how many examples are computed at once; the default is 512. More are
// faster as long as they keep the processor or the GPU busy, fewer need less memory.
func PredictBatchSize(examples int) PredictOption {
	text := fmt.Sprintf("PredictBatchSize(%d)", examples)
	return PredictOption{text, func(p *predicting) error {
		if examples < 1 {
			return fmt.Errorf("accel: %s: the number must be at least 1", text)
		}
		p.atOnce = examples
		return nil
	}}
}

// Progress calls a function when so many of all examples are computed. Without it, what
// takes longer than a second shows a bar.
func Progress(report func(done, all int)) PredictOption {
	return PredictOption{"Progress(…)", func(p *predicting) error {
		p.report = report
		return nil
	}}
}

// PredictParallel has each rank of a group compute a part of the examples of a set; all
// call [PredictDataset] with the same model and set, which is checked, and all get the outputs
// of all examples. [Progress] then tells of a rank's own part. It is refused by [Predict].
func PredictParallel(group *parallel.Group) PredictOption {
	return PredictOption{"PredictParallel(group)", func(p *predicting) error {
		if group == nil {
			return errors.New("accel: PredictParallel(nil): there is no group; was the error of parallel.Join read?")
		}
		p.group = group
		return nil
	}}
}

// predicting is what the options set, and what has been computed.
type predicting struct {
	call   string // for errors
	model  nn.Module
	atOnce int
	report func(done, all int)
	group  *parallel.Group // nil for one process

	meter     *display.Meter // unless report does that
	done, all int
	outputs   []*Tensor // of the parts
}

func newPredicting(call string, model nn.Module, all int, options []PredictOption) (*predicting, error) {
	p := &predicting{call: call, model: model, atOnce: evaluationBatch, all: all}
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

// Predict gives the model's output for x, whose first dimension counts the
// examples: logits [N, C] of a classifier, from which ArgMax(1) takes the
// classes and Softmax(1) the probabilities. The model is in evaluation mode
// meanwhile. A large x is computed in parts, see [PredictBatchSize], and where memory is short
// in smaller ones; each example gives the same in any part, but for the order in
// which products are added up, since the model may not mix examples. When ctx is
// done, its error comes after the part that is being computed. Errors are as those of
// [Fit].
func Predict(ctx context.Context, model nn.Module, x *Tensor, options ...PredictOption) (y *Tensor, err error) {
	switch {
	case model == nil:
		return nil, errors.New("accel: Predict: the model is nil")
	case x == nil:
		return nil, errors.New("accel: Predict: there is no input")
	case x.NDim() == 0:
		return nil, errors.New("accel: Predict: the input is a single number; its first dimension must count the examples")
	}
	p, err := newPredicting("Predict", model, x.Size(0), options)
	if err != nil {
		return nil, err
	}
	if p.group != nil {
		return nil, errors.New("accel: Predict: PredictParallel is for PredictDataset, since ranks may hold other tensors")
	}
	from := 0
	return p.run(ctx, func() (part, error) {
		begin := from
		from = min(from+p.atOnce, p.all)
		return part{x, begin, from}, nil
	})
}

// PredictDataset is [Predict] for the examples of a set, in its order, without
// their labels. The set is never in memory as a whole tensor. One whose columns are not
// those of the model's training is a [*data.MismatchError].
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
		return p.onRanks(r, set)
	}
	return p.runSet(ctx, set)
}

// runSet computes the examples of a set.
func (p *predicting) runSet(ctx context.Context, set *data.Dataset) (*Tensor, error) {
	it := set.Batches(p.atOnce, data.Context(ctx))
	return p.run(ctx, func() (part, error) {
		if !it.Next() {
			return part{}, it.Err()
		}
		x := it.Batch().X
		return part{x, 0, x.Size(0)}, nil
	})
}

// part is some of the examples of a tensor.
type part struct {
	of       *Tensor
	from, to int
}

// tensor of the part.
func (p part) tensor() *Tensor {
	if p.from == 0 && p.to == p.of.Size(0) {
		return p.of
	}
	return p.of.Slice(0, p.from, p.to)
}

// run applies the model to the parts that next gives, until all examples are
// computed, and joins the outputs.
func (p *predicting) run(ctx context.Context, next func() (part, error)) (y *Tensor, err error) {
	defer nn.Catch(&err)
	defer nn.Eval(p.model)()
	if p.report == nil && (p.group == nil || p.group.First()) {
		p.meter, _ = display.Measure(ctx, "examples", float64(p.all))
		defer p.meter.End()
	}
	tensor.Flush() // so that an input that is not computed yet outlives a part that fails
	for first := true; first || p.done < p.all; first = false {
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

// compute returns the output for a part, or where memory is short for each half of it.
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
		return fmt.Errorf("accel: %s: the model gave %v for %v, of which the first dimension counts %d examples; its output must have that dimension, too (a single example is a batch of one: Reshape(1, …))", p.call, got, x.tensor().Shape(), n)
	}
	p.outputs = append(p.outputs, y)
	p.done += n
	p.meter.Set(float64(p.done), "")
	if p.report != nil {
		p.report(p.done, p.all)
	}
	return nil
}

// forward returns the model's output, computed.
func (p *predicting) forward(x part) (y *Tensor, err error) {
	defer nn.Catch(&err)
	tensor.NoGrad(func() {
		y = p.model.Forward(x.tensor())
		tensor.Flush()
	})
	return y, nil
}
