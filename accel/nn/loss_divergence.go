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

// GaussianKL returns the Kullback-Leibler divergence of normal distributions with means μ and logarithms of variances
// l, both [N, …], from the standard normal distribution: the sum of (μ² + eˡ - l - 1)/2 over the values of an example,
// as the mean over the examples, a tensor of one element. It is the part of the loss of a variational autoencoder that
// keeps its codes near 0 (Kingma and Welling, Auto-Encoding Variational Bayes, 2014, appendix B), beside the
// reconstruction, which must be a sum over the values of an example too: BCEWithLogits or MSE times their number.
func GaussianKL(mean, logVariance *Tensor) *Tensor {
	requireSameShape("GaussianKL", mean, logVariance)
	requireArgument(mean.NDim() > 0, "GaussianKL", "the tensors need a batch dimension")
	dtype := mean.DType()
	m := inFloat32(mean)
	l := inType(inFloat32(logVariance), m.DType())
	each := m.Square().Add(l.Exp()).Sub(l).AddScalar(-1).Reshape(mean.Size(0), -1).Sum(1)
	return inType(each.Mean().MulScalar(0.5), dtype)
}
