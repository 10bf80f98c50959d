package accel

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Predict gives the model's output for x, whose first dimension counts the
// examples: logits [N, C] of a classifier, from which ArgMax(1) takes the
// classes and Softmax(1) the probabilities. The model is in evaluation mode
// meanwhile. A large x is computed in parts. Errors are as those of [Fit].
func Predict(ctx context.Context, model nn.Module, x *Tensor) (y *Tensor, err error) {
	switch {
	case model == nil:
		return nil, errors.New("accel: Predict: there is no model")
	case x == nil:
		return nil, errors.New("accel: Predict: there is no input")
	case x.Rank() == 0:
		return nil, errors.New("accel: Predict: the input is a single number; its first dimension must count the examples")
	}
	n, from := x.Dim(0), 0
	return predict(ctx, model, func() (*Tensor, error) {
		switch {
		case from > 0 && from >= n:
			return nil, nil
		case n <= evaluationBatch:
			from = evaluationBatch
			return x, nil
		}
		begin := from
		from = min(from+evaluationBatch, n)
		return x.Slice(0, begin, from), nil
	})
}

// PredictSet is [Predict] for the examples of a set, in its order, without
// their labels. The set is never in memory as a whole tensor.
func PredictSet(ctx context.Context, model nn.Module, set *data.Set) (y *Tensor, err error) {
	switch {
	case model == nil:
		return nil, errors.New("accel: PredictSet: there is no model")
	case set == nil:
		return nil, errors.New("accel: PredictSet: there is no set; was the error of making it read?")
	case set.Len() == 0:
		return nil, fmt.Errorf("accel: PredictSet: %s is empty", set.Name())
	}
	it := set.Batches(evaluationBatch, data.Context(ctx))
	return predict(ctx, model, func() (*Tensor, error) {
		if !it.Next() {
			return nil, it.Err()
		}
		return it.Batch().X, nil
	})
}

// predict applies a model to the parts that next gives until one is nil, and
// joins the outputs.
func predict(ctx context.Context, model nn.Module, next func() (*Tensor, error)) (y *Tensor, err error) {
	defer nn.Catch(&err)
	defer evaluating(model)()
	var parts []*Tensor
	for {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x, err := next()
		if err != nil {
			return nil, err
		}
		if x == nil {
			break
		}
		tensor.NoGrad(func() {
			parts = append(parts, model.Forward(x))
			tensor.Flush()
		})
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return tensor.Concat(0, parts...), nil
}
