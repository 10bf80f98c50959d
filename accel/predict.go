package accel

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

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
			if err = ctx.Err(); err != nil {
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
