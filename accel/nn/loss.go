package nn

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/training/divisor"
	"github.com/quernlab/quern/accel/tensor"
)

// Loss computes a loss from a prediction and a target: the mean over the batch, a tensor of one
// element. [MSE] and [CrossEntropy] are such functions, and any function of this type can be
// passed to accel.Minimize.
type Loss = func(prediction, target *Tensor) *Tensor

// CrossEntropy returns the mean over the batch of -ln softmax(logits)[class], a tensor of one
// element, for logits [N, C] and class indices [N] of type int32. For sequences, logits [N, T,
// C] and indices [N, T], it is the mean over all tokens. For images with a class of each pixel,
// logits [N, C, H, W] and indices [N, H, W], it is the mean over all pixels; as in PyTorch the
// classes are the channels, also of volumes [N, C, D, H, W]. It panics with a *tensor.IndexError if
// a class is not in 0..C-1. [CrossEntropyLoss] has options.
//
// Instead of an index, a target may be a probability for each class, such as the softmax of another
// model's logits: floats of the shape of the logits. Then it is the mean of -Σ y·ln softmax(logits).
func CrossEntropy(logits, classes *Tensor) *Tensor {
	l := classLoss{op: "CrossEntropy"}
	if areProbabilities(logits, classes) {
		return l.soft(logits, classes)
	}
	if logits.NDim() < 3 || classes.NDim() < 2 || logits.NDim() == 3 && classes.NDim() != 2 {
		return tensor.CrossEntropy(logits, classes)
	}
	var s scratch
	defer s.release()
	rows, flat := l.flatten(&s, logits, classes)
	return tensor.CrossEntropy(rows, flat)
}

// MSE returns the mean squared error over all elements, a tensor of one element. Both tensors
// must have the same shape.
func MSE(prediction, target *Tensor) *Tensor {
	return tensor.MSE(prediction, target)
}

// WeightedMean returns Σ w·v / Σ w, a tensor of one element, for a loss of your own with weights or a
// mask: the losses v of examples, tokens or pixels, and weights w that are not negative and broadcast
// to their shape. It is 0 if all weights are 0. In Fit, Evaluate and with several ranks it is the
// quotient of the sums over all batches, so that the result does not depend on how examples fall into
// batches; v.Mul(w).Sum().Div(w.Sum()) has the mean of the quotients.
func WeightedMean(values, weights *Tensor) *Tensor {
	dtype := values.DType()
	values = inFloat32(values)
	w := weights.Cast(values.DType()).Expand(values.Shape()...)
	total := w.Sum().Detach()
	divisor.Report(total)
	total = tensor.Where(total.EqScalar(0), constant(1, total), total)
	zero := constant(0, values)
	sum := tensor.Where(w.EqScalar(0), zero, values.Mul(w)).Sum() // 0·Inf would be NaN
	return inType(sum.Div(total), dtype)
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

// inFloat32 converts 16-bit floats to float32. Their sums overflow (65,504 is the largest number of FP16) or
// lose examples (2,048 + 1 is 2,048), and squares of small numbers are 0.
func inFloat32(t *Tensor) *Tensor {
	if t.DType().Is16Bit() {
		return t.Cast(tensor.Float32)
	}
	return t
}

// inType converts to an element type.
func inType(t *Tensor, d tensor.DType) *Tensor {
	if t.DType() != d {
		return t.Cast(d)
	}
	return t
}

// constant returns a scalar of the element type of t.
func constant(value float64, t *Tensor) *Tensor {
	return tensor.Full(value).Cast(t.DType())
}
