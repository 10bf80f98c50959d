package nn

import "github.com/quernlab/quern/accel/tensor"

// CrossEntropy is the mean over the batch of -ln softmax(logits)[class], a
// tensor of one element, for logits [N, C] and class indices [N] of type int32. It
// panics with a *tensor.IndexError if a class is not in 0..C-1.
func CrossEntropy(logits, classes *Tensor) *Tensor { return tensor.CrossEntropy(logits, classes) }

// MSE is the mean of the squared differences over all elements, a tensor of
// one element. Both must have the same shape.
func MSE(prediction, target *Tensor) *Tensor {
	return tensor.MSE(prediction, target)
}
