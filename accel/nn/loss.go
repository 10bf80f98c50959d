package nn

import "github.com/quernlab/quern/accel/tensor"

// CrossEntropy returns the mean over the batch of -ln softmax(logits)[class], a tensor of one
// element, for logits [N, C] and class indices [N] of type int32. For sequences, logits [N, T,
// C] and indices [N, T], it is the mean over all tokens. It panics with a *tensor.IndexError if
// a class is not in 0..C-1.
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
