package nn

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
