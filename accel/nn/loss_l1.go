package nn

// L1 returns the mean absolute error over all elements, a tensor of one element. Both tensors
// must have the same shape. The gradient of an element that is exact is 0.
func L1(prediction, target *Tensor) *Tensor {
	requireSameShape("L1", prediction, target)
	return prediction.Sub(target).Abs().Mean()
}
