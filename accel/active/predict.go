package active

import (
	"context"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// predictionBatch is the batch size of predictions.
const predictionBatch = 512

// apply applies a function to the examples of a data set in batches and returns one row per
// example, all of the same length. It reads the rows at the end, so that it need not wait for
// the device between batches.
func apply(ctx context.Context, set *data.Dataset, f func(x *tensor.Tensor) *tensor.Tensor) ([][]float32, error) {
	var parts []*tensor.Tensor
	it := set.Batches(predictionBatch, data.Context(ctx))
	for it.Next() {
		tensor.NoGrad(func() {
			x := it.Batch().X
			var y *tensor.Tensor
			it.Batch().WithLengths(func() { y = f(x) })
			if y.NDim() == 0 || y.Size(0) != x.Size(0) {
				panic(&tensor.ShapeError{Op: "active", Shapes: [][]int{x.Shape(), y.Shape()}, Hint: "the output must have one row per example"})
			}
			parts = append(parts, y.Reshape(x.Size(0), y.Numel()/x.Size(0)))
			tensor.Flush()
		})
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	rows := make([][]float32, 0, set.Len())
	for _, part := range parts {
		width := part.Size(1)
		numbers := part.Data()
		for i := range part.Size(0) {
			rows = append(rows, numbers[i*width:(i+1)*width:(i+1)*width])
		}
		part.Release()
	}
	return rows, nil
}

// softmax returns the model's probabilities for the candidates, in the current mode of the
// model. They are computed from the logits in float64, so that very confident predictions can
// still be ranked.
func (c *Candidates) softmax(ctx context.Context) ([][]float64, error) {
	return probabilities(ctx, c.model, c.Dataset(), c.index)
}

func probabilities(ctx context.Context, model nn.Module, set *data.Dataset, index []int) ([][]float64, error) {
	logits, err := apply(ctx, set, func(x *tensor.Tensor) *tensor.Tensor {
		y := model.Forward(x)
		if y.NDim() != 2 {
			panic(&tensor.ShapeError{Op: "active", Shapes: [][]int{y.Shape()}, Hint: "the model must return one row of logits per example"})
		}
		return y
	})
	if err != nil {
		return nil, err
	}
	rows := make([][]float64, len(logits))
	all := make([]float64, len(logits)*len(set.Classes()))
	for i, row := range logits {
		if len(row) != len(set.Classes()) {
			return nil, fmt.Errorf("active: the model returns %d logits, but %s has %d classes", len(row), set.Name(), len(set.Classes()))
		}
		rows[i], all = all[:len(row):len(row)], all[len(row):]
		if !softmax(rows[i], row) {
			return nil, &NotFiniteError{What: "the model's output", Example: index[i]}
		}
	}
	return rows, nil
}

// softmax writes the softmax of logits; ok is false if a logit is not finite.
func softmax(dst []float64, logits []float32) (ok bool) {
	largest := math.Inf(-1)
	for _, v := range logits {
		if v-v != 0 {
			return false
		}
		largest = max(largest, float64(v))
	}
	total := 0.0
	for k, v := range logits {
		dst[k] = math.Exp(float64(v) - largest)
		total += dst[k]
	}
	for k := range dst {
		dst[k] /= total
	}
	return true
}
