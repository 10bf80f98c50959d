package nn

import (
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// Loss computes a loss from a prediction and a target: the mean over the batch, a tensor of one
// element. [MSE] and [CrossEntropy] are such functions, and any function of this type can be
// passed to accel.Minimize.
type Loss = func(prediction, target *Tensor) *Tensor

// CrossEntropy returns the mean over the batch of -ln softmax(logits)[class], a tensor of one
// element, for logits [N, C] and class indices [N] of type int32. For sequences, logits [N, T,
// C] and indices [N, T], it is the mean over all tokens. It panics with a *tensor.IndexError if
// a class is not in 0..C-1. [CrossEntropyLoss] has options.
func CrossEntropy(logits, classes *Tensor) *Tensor {
	if logits.NDim() != 3 || classes.NDim() != 2 {
		return tensor.CrossEntropy(logits, classes)
	}
	rows, flat := logits.Reshape(-1, logits.Size(2)), classes.Reshape(-1)
	defer rows.Release()
	defer flat.Release()
	return tensor.CrossEntropy(rows, flat)
}

// MSE returns the mean squared error over all elements, a tensor of one element. Both tensors
// must have the same shape.
func MSE(prediction, target *Tensor) *Tensor {
	return tensor.MSE(prediction, target)
}

// requireSameShape panics unless the tensors have equal shapes and at least one element.
func requireSameShape(op string, first *Tensor, others ...*Tensor) {
	shapes := [][]int{first.Shape()}
	equal := true
	for _, t := range others {
		shapes = append(shapes, t.Shape())
		equal = equal && slices.Equal(shapes[0], t.Shape())
	}
	switch {
	case !equal:
		panic(&tensor.ShapeError{Op: op, Shapes: shapes, Hint: "the shapes must be equal"})
	case first.Numel() == 0:
		panic(&tensor.ShapeError{Op: op, Shapes: shapes, Hint: "an empty batch has no mean loss"})
	}
}

// requireArgument panics unless an argument of a loss is valid.
func requireArgument(valid bool, op, hint string) {
	if !valid {
		panic(&tensor.ShapeError{Op: op, Hint: hint})
	}
}

// constant returns a scalar of the element type of t.
func constant(value float64, t *Tensor) *Tensor {
	return tensor.Full(value).Cast(t.DType())
}
