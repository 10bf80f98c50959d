package loop

import (
	"cmp"
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

// Prediction is one call of Predict or PredictDataset: its settings and results.
type Prediction struct {
	call      string // name of the function, for errors
	model     nn.Module
	set       *data.Dataset // nil for a tensor
	longest   int           // length of the longest sequence, once it is needed
	batchSize int
	report    func(done, total int) // nil for a progress bar
	group     *parallel.Group       // nil for one process

	meter       *display.Meter // nil if report is set
	done, total int
	outputs     []*tensor.Tensor // of the parts computed so far
}

// checkColumns fails if the columns of a data set differ from those that the model was trained
// with.
func (p *Prediction) checkColumns(set *data.Dataset) error {
	if t := TrainedWith(p.model); t != nil {
		if err := t.Schema.CheckColumns(set); err != nil {
			return fmt.Errorf("accel: PredictDataset: %w", err)
		}
	}
	return nil
}

// runSet computes the examples of a data set.
func (p *Prediction) runSet(ctx context.Context, set *data.Dataset) (*tensor.Tensor, error) {
	p.set = set
	it := set.Batches(p.batchSize, data.Context(ctx))
	return p.run(ctx, func() (data.Batch, error) {
		if !it.Next() {
			return data.Batch{}, it.Err()
		}
		return it.Batch(), nil
	})
}

// run applies the model to the batches that next returns until all examples are computed, and
// concatenates the outputs.
func (p *Prediction) run(ctx context.Context, next func() (data.Batch, error)) (y *tensor.Tensor, err error) {
	defer nn.Catch(&err)
	defer nn.Eval(p.model)()
	if p.report == nil && (p.group == nil || p.group.First()) {
		p.meter, _ = display.Measure(ctx, "examples", float64(p.total))
		defer p.meter.End()
	}
	tensor.Flush() // computes a lazy input now, so that it survives a part that fails
	for first := true; first || p.done < p.total; first = false {
		b, err := next()
		if err != nil {
			return nil, err
		}
		if err := p.compute(ctx, b); err != nil {
			return nil, err
		}
	}
	if len(p.outputs) == 1 {
		return p.outputs[0], nil
	}
	return tensor.Concat(0, p.outputs...), nil
}

// compute appends the output for a batch. If memory runs out, it computes each half of it.
func (p *Prediction) compute(ctx context.Context, b data.Batch) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	n := b.Len()
	y, err := p.forward(b)
	if memory := (*tensor.OutOfMemoryError)(nil); errors.As(err, &memory) && n > 1 {
		if err := p.compute(ctx, b.Slice(0, n/2)); err != nil {
			return err
		}
		return p.compute(ctx, b.Slice(n/2, n))
	}
	if err != nil {
		return locate(err, p.model, p.set, b, func(b data.Batch) { Forward(p.model, b) })
	}
	if got := y.Shape(); len(got) == 0 || got[0] != n {
		return fmt.Errorf("accel: %s: the model returned shape %v for an input of shape %v; the first dimension of the output must be the %d examples of the batch (to predict a single example, make it a batch of one with Reshape(1, …))", p.call, got, b.X.Shape(), n)
	}
	p.outputs = append(p.outputs, p.padded(y, b))
	p.done += n
	p.meter.Set(float64(p.done), "")
	if p.report != nil {
		p.report(p.done, p.total)
	}
	return nil
}

// forward returns the output of the model, already computed.
func (p *Prediction) forward(b data.Batch) (y *tensor.Tensor, err error) {
	defer nn.Catch(&err)
	tensor.NoGrad(func() {
		y = Forward(p.model, b)
		tensor.Flush()
	})
	return y, nil
}

// padded pads outputs for each position of sequences, [N, T, …], with zeros at the end, since T differs
// between batches.
func (p *Prediction) padded(y *tensor.Tensor, b data.Batch) *tensor.Tensor {
	if b.Padded == 0 || y.NDim() < 3 || y.Size(1) != b.Padded || p.set == nil {
		return y
	}
	if p.longest == 0 {
		for i := range p.set.Len() {
			p.longest = max(p.longest, p.set.Length(i))
		}
	}
	if b.Padded >= p.longest {
		return y
	}
	tensor.NoGrad(func() {
		y = y.Pad(1, 0, p.longest-b.Padded)
		tensor.Flush()
	})
	return y
}

// Touch runs one example through the model, so that its layers create their parameters.
func Touch(ctx context.Context, model nn.Module, train *data.Dataset) error {
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
	p := &Prediction{call: "PredictDataset", model: model, batchSize: 1, total: 1}
	if err := p.checkColumns(train); err != nil {
		return err
	}
	_, err := p.runSet(ctx, train.First(1))
	return err
}

// NewPrediction returns the prediction of a function, whose name errors have.
func NewPrediction(call string, model nn.Module, c *Settings) *Prediction {
	return &Prediction{call: call, model: model, batchSize: cmp.Or(c.BatchSize, evaluationBatch), report: c.Report, group: c.Group}
}

// Tensor returns the output of the model for the rows of x.
func (p *Prediction) Tensor(ctx context.Context, x *tensor.Tensor) (*tensor.Tensor, error) {
	from := 0
	p.total = x.Size(0)
	all := data.Batch{X: x, Index: make([]int, p.total)}
	for i := range all.Index {
		all.Index[i] = i
	}
	return p.run(ctx, func() (data.Batch, error) {
		begin := from
		from = min(from+p.batchSize, p.total)
		b := all.Slice(begin, from)
		tensor.Flush() // computes the slice now, so that it survives a model that fails
		return b, nil
	})
}
