package explain

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// check reports what every function rejects.
func check(call string, model nn.Module, set *data.Dataset) error {
	switch {
	case model == nil:
		return fmt.Errorf("explain: %s: the model is nil", call)
	case set == nil:
		return fmt.Errorf("explain: %s: the data set is nil: check the error returned where it was created", call)
	case set.Len() == 0:
		return fmt.Errorf("explain: %s: %s is empty", call, set.Name())
	case set.Unlabeled():
		return fmt.Errorf("explain: %s: the examples of %s have no labels", call, set.Name())
	case set.SequenceLength() > 0:
		return fmt.Errorf("explain: %s: %s has a label for each position of a sequence, not one for each example", call, set.Name())
	}
	return nil
}

// selected returns some examples as one batch.
func selected(call string, set *data.Dataset, indices []int) (data.Batch, error) {
	if len(indices) == 0 {
		return data.Batch{}, fmt.Errorf("explain: %s: no examples: give their indices in %s", call, set.Name())
	}
	part, err := set.Subset(indices)
	if err != nil {
		return data.Batch{}, fmt.Errorf("explain: %s: %w", call, err)
	}
	return part.Tensors()
}

// predicted returns the predicted class of each row of logits [N, C].
func predicted(call string, logits *tensor.Tensor) ([]int, error) {
	if logits.NDim() != 2 {
		return nil, fmt.Errorf("explain: %s: the model returned shape %v, but a classifier returns logits [N, C]", call, logits.Shape())
	}
	return logits.ArgMax(1).Ints(), nil
}

// lossFor returns the function, or the default for the labels of a data set.
func lossFor(given nn.Loss, set *data.Dataset) nn.Loss {
	switch {
	case given != nil:
		return given
	case set.Targets() > 0:
		return nn.MSE
	}
	return nn.CrossEntropy
}

// errNoClasses is returned by functions for classifiers.
var errNoClasses = errors.New("the data set has targets, not classes")
