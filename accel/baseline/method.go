package baseline

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/preprocess"
	"github.com/quernlab/quern/accel/tensor"
)

// Method fits a model to data without a training loop. Its String is the name in a [Comparison].
type Method interface {
	fmt.Stringer
	// Fit returns a model for the examples of a data set: it maps [N, shape of one example…] to
	// logits [N, C] of the classes, or to targets [N, T].
	Fit(ctx context.Context, train *data.Dataset) (nn.Module, error)
}

// Trained is a method that returns a model which is already trained, to compare it with the others.
func Trained(name string, model nn.Module) Method { return trained{name, model} }

type trained struct {
	name  string
	model nn.Module
}

func (m trained) String() string { return m.name }

func (m trained) Fit(context.Context, *data.Dataset) (nn.Module, error) {
	if m.model == nil {
		return nil, errors.New("the model is nil")
	}
	return m.model, nil
}

// examples are all examples of a data set.
type examples struct {
	x       *tensor.Tensor // [N, D], float32
	y       *tensor.Tensor // class indices [N] or targets [N, T]
	classes int            // 0 for regression
}

// read returns the examples of a training set.
func read(train *data.Dataset) (examples, error) {
	switch {
	case train == nil:
		return examples{}, errors.New("the training set is nil: check the error returned where it was created")
	case train.Len() == 0:
		return examples{}, fmt.Errorf("%s is empty", train.Name())
	case train.Unlabeled():
		return examples{}, fmt.Errorf("the examples of %s have no labels", train.Name())
	case train.SequenceLength() > 0:
		return examples{}, fmt.Errorf("%s has a label for each position of a sequence; baselines need one label or target vector for each example", train.Name())
	}
	all, err := train.Tensors()
	if err != nil {
		return examples{}, err
	}
	x := all.X.Reshape(train.Len(), -1)
	width := x.Size(1)
	for i, v := range x.Data() {
		if v-v != 0 {
			return examples{}, fmt.Errorf("%s: value %d of example %d is %v; baselines need finite values", train.Name(), i%width, i/width, v)
		}
	}
	return examples{x: x, y: all.Y, classes: len(train.Classes())}, nil
}

// scale is the mean and the standard deviation of each feature, float32 [D], as of [preprocess.Scale].
type scale struct{ mean, deviation *tensor.Tensor }

// newScale returns the scale of examples [N, D].
func newScale(x *tensor.Tensor) scale {
	n, width, values := x.Size(0), x.Size(1), x.Float64s()
	mean, deviation := make([]float64, width), make([]float64, width)
	column := make([]float64, n)
	for d := range width {
		for i := range column {
			column[i] = values[i*width+d]
		}
		mean[d], deviation[d] = preprocess.Scale(column)
	}
	return scale{tensor.FromFloat64s(mean, width).Cast(tensor.Float32), tensor.FromFloat64s(deviation, width).Cast(tensor.Float32)}
}

// apply standardizes examples [N, D].
func (s scale) apply(x *tensor.Tensor) *tensor.Tensor { return x.Sub(s.mean).Div(s.deviation) }
