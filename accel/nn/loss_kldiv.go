package nn

import "github.com/quernlab/quern/accel/tensor"

// KLDiv returns the Kullback-Leibler divergence of predicted from given distributions, a tensor
// of one element: the sum of q·(ln q - x) over all elements, divided by the size of the first
// dimension, like PyTorch's reduction="batchmean". x are logarithms of predicted probabilities,
// such as the result of LogSoftmax, and q are probabilities of the same shape. Elements with a
// q of 0 add 0. 16-bit floats are added in float32.
func KLDiv(logProbabilities, probabilities *Tensor) *Tensor {
	requireSameShape("KLDiv", logProbabilities, probabilities)
	requireArgument(logProbabilities.NDim() > 0, "KLDiv", "the tensors need a batch dimension")
	dtype := logProbabilities.DType()
	logProbabilities, probabilities = inFloat32(logProbabilities), inFloat32(probabilities)
	zero, one := constant(0, probabilities), constant(1, probabilities)
	none := probabilities.Eq(zero)
	// x is replaced too, since 0·(-Inf) is NaN.
	log := tensor.Where(none, one, probabilities).Log()
	x := tensor.Where(none, constant(0, logProbabilities), logProbabilities)
	each := probabilities.Mul(log.Sub(x)).Reshape(logProbabilities.Size(0), -1).Sum(1)
	return inType(each.Mean(), dtype)
}
