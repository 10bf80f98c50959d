package baseline

import (
	"context"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Majority ignores the features. It predicts the most frequent class, with the class frequencies of
// the training set as probabilities, or for regression the mean of the targets.
//
// The probability of a class with n of N examples is (n+1)/(N+C) for C classes, so that no class
// has the probability 0.
func Majority() Method { return majority{} }

type majority struct{}

func (majority) String() string { return "majority" }

func (majority) Fit(_ context.Context, train *data.Dataset) (nn.Module, error) {
	all, err := read(train)
	if err != nil {
		return nil, err
	}
	if all.classes == 0 {
		return &constant{name: "Mean", row: all.y.Mean(0)}, nil
	}
	logits := make([]float64, all.classes)
	for class, n := range train.Counts() {
		logits[class] = math.Log(float64(n+1) / float64(train.Len()+all.classes))
	}
	return &constant{name: "Majority", row: tensor.FromFloat64s(logits, all.classes).Cast(tensor.Float32)}, nil
}

// constant is a model that returns the same row for each example.
type constant struct {
	name string
	row  *tensor.Tensor
}

// Forward returns the row for each of the examples [N, …].
func (c *constant) Forward(x *tensor.Tensor) *tensor.Tensor {
	return c.row.Expand(x.Size(0), c.row.Numel())
}

// String returns the name of the model.
func (c *constant) String() string { return c.name + "()" }
