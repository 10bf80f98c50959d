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

// evaluationBatch is the number of examples that are evaluated at once.
const evaluationBatch = 512

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

// checkColumns fails if the columns of a data set differ from those that the model was trained
// with.
func (p *predicting) checkColumns(set *data.Dataset) error {
	if t := trainedWith(p.model); t != nil {
		if err := t.schema.CheckColumns(set); err != nil {
			return fmt.Errorf("accel: PredictDataset: %w", err)
		}
	}
	return nil
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
		return locateIndex(err, func() { forward(p.model, x.tensor()) })
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
		y = forward(p.model, x.tensor())
		tensor.Flush()
	})
	return y, nil
}

// touch runs one example through the model, so that its layers create their parameters.
func touch(ctx context.Context, model nn.Module, train *data.Dataset) error {
	switch {
	case model == nil:
		return errors.New("the model is nil")
	case train == nil:
		return errors.New("the training set is nil: check the error returned where it was created")
	case train.Len() == 0:
		return fmt.Errorf("%s is empty", train.Name())
	}
	generator := (*tensor.Generator)(nil)
	seed, drawn := generator.State()
	defer generator.SetState(seed, drawn) // the training draws the same random numbers as without this call
	p := &predicting{call: "PredictDataset", model: model, batchSize: 1, total: 1}
	if err := p.checkColumns(train); err != nil {
		return err
	}
	_, err := p.runSet(ctx, train.First(1))
	return err
}
