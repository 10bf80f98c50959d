package nn

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// L1 returns the mean absolute error over all elements, a tensor of one element. Both tensors
// must have the same shape. The gradient of an element that is exact is 0.
func L1(prediction, target *Tensor) *Tensor {
	requireSameShape("L1", prediction, target)
	return prediction.Sub(target).Abs().Mean()
}

// HuberLoss returns a loss that is quadratic for small errors and linear for large ones, so that
// outliers count less than in [MSE] (Huber, 1964): the mean over all elements of d²/2 where the
// absolute error d is at most delta, and of delta·(d - delta/2) elsewhere. delta is positive.
func HuberLoss(delta float64) Loss {
	requireArgument(delta > 0, "HuberLoss", "delta must be positive")
	return func(prediction, target *Tensor) *Tensor {
		requireSameShape("HuberLoss", prediction, target)
		return huber(prediction, target, delta)
	}
}

// SmoothL1Loss returns [HuberLoss] divided by beta, whose linear part has a slope of 1. With a
// beta of 0 it is [L1].
func SmoothL1Loss(beta float64) Loss {
	requireArgument(beta >= 0, "SmoothL1Loss", "beta must not be negative")
	return func(prediction, target *Tensor) *Tensor {
		requireSameShape("SmoothL1Loss", prediction, target)
		if beta == 0 {
			return L1(prediction, target)
		}
		return huber(prediction, target, beta).MulScalar(1 / beta)
	}
}

// huber returns the mean of c·(d - c/2), where c is the smaller of d and delta.
func huber(prediction, target *Tensor, delta float64) *Tensor {
	d := prediction.Sub(target).Abs()
	c := d.Clamp(0, delta)
	return c.Mul(d.Sub(c.MulScalar(0.5))).Mean()
}

// GaussianNLL returns the mean over all elements of the negative log-likelihood of targets y under
// normal distributions with predicted means μ and variances v (Nix and Weigend, 1994), a tensor of
// one element, without the constant ln(2π)/2:
//
//	(ln max(v, 1e-6) + (μ - y)²/max(v, 1e-6)) / 2
//
// All three tensors have the same shape, or v has the size 1 in its last dimension. As in PyTorch's
// gaussian_nll_loss, the gradient of v is that at 1e-6 where v is smaller. A negative variance makes
// the loss NaN: let the model predict its logarithm, and pass v.Exp().
//
// For accel.Fit, whose models have one output, split it into means and logarithms of variances:
//
//	func(prediction, target *nn.Tensor) *nn.Tensor {
//		k := target.Size(1)
//		return nn.GaussianNLL(prediction.Slice(1, 0, k), target, prediction.Slice(1, k, 2*k).Exp())
//	}
func GaussianNLL(mean, target, variance *Tensor) *Tensor {
	requireSameShape("GaussianNLL", mean, target)
	requireVariance(mean, target, variance)
	const least = 1e-6 // as in PyTorch
	dtype := mean.DType()
	mean, target, variance = inFloat32(mean), inFloat32(target), inFloat32(variance)
	small := variance.LessScalar(least).And(variance.LessScalar(0).Not())
	// The value is the constant and the gradient that of the variance.
	v := tensor.Where(small, variance.Sub(variance.Detach()).AddScalar(least), variance)
	each := v.Log().Add(mean.Sub(inType(target, mean.DType())).Square().Div(v)).MulScalar(0.5)
	return inType(each.Mean(), dtype)
}

// requireVariance panics unless variances have the shape of the means, or are one for each row of them.
func requireVariance(mean, target, variance *Tensor) {
	shape, given := mean.Shape(), variance.Shape()
	valid := len(given) == len(shape)
	for i := range given {
		valid = valid && (given[i] == shape[i] || given[i] == 1 && i == len(shape)-1)
	}
	if !valid {
		panic(&tensor.ShapeError{Op: "GaussianNLL", Shapes: [][]int{shape, target.Shape(), given}, Hint: "the variances must have the shape of the means, or the size 1 in the last dimension"})
	}
}

// PoissonNLL returns the mean over all elements of the negative log-likelihood of counts y under
// Poisson distributions with predicted logarithms x of their rates, a tensor of one element, without
// the constant ln y!:
//
//	eˣ - y·x
//
// It is PyTorch's poisson_nll_loss. Both tensors have the same shape. For a model that predicts rates
// r, pass r.AddScalar(1e-8).Log().
func PoissonNLL(logRates, counts *Tensor) *Tensor {
	requireSameShape("PoissonNLL", logRates, counts)
	dtype := logRates.DType()
	x := inFloat32(logRates)
	return inType(x.Exp().Sub(inType(counts, x.DType()).Mul(x)).Mean(), dtype)
}

// QuantileLoss returns the pinball loss (Koenker and Bassett, 1978), whose minimum is the quantile q
// of the targets instead of their mean, such as 0.5 for the median: the mean over all elements of
// q·(y - x) where the prediction x is below the target y, and of (1-q)·(x - y) elsewhere. It is
// scikit-learn's mean_pinball_loss. The gradient of an element that is exact is 0.
//
// With one quantile, prediction and target have the same shape. With several, the last dimension of
// the prediction has the predictions of the first quantile, then those of the second, and so on: [N, 3]
// and [N, 1] for an interval and its middle, and [N, 3·T] and [N, T] for T times, which
// prediction.Split(T, 1) divides.
func QuantileLoss(quantiles ...float64) Loss {
	requireArgument(len(quantiles) > 0, "QuantileLoss", "it needs at least one quantile")
	for _, q := range quantiles {
		requireArgument(q > 0 && q < 1, "QuantileLoss", fmt.Sprintf("the quantile %v must be strictly between 0 and 1", q))
	}
	above := make([]float64, len(quantiles))
	for i, q := range quantiles {
		above[i] = 1 - q
	}
	return func(prediction, target *Tensor) *Tensor {
		if len(quantiles) == 1 {
			requireSameShape("QuantileLoss", prediction, target)
		} else {
			requireQuantiles(len(quantiles), prediction, target)
			shape := target.Shape()
			at := len(shape) - 1
			target = target.Unsqueeze(at)
			prediction = prediction.Reshape(slices.Insert(shape, at, len(quantiles))...)
		}
		d := inType(target, prediction.DType()).Sub(prediction)
		factors := func(values []float64) *Tensor {
			if len(values) == 1 {
				return tensor.FromFloat64s(values, 1).Cast(d.DType())
			}
			return tensor.FromFloat64s(values, len(values), 1).Cast(d.DType())
		}
		return d.ReLU().Mul(factors(quantiles)).Add(d.Neg().ReLU().Mul(factors(above))).Mean()
	}
}

// requireQuantiles panics unless there is a prediction for each quantile of each target.
func requireQuantiles(n int, prediction, target *Tensor) {
	p, t := prediction.Shape(), target.Shape()
	valid := len(p) > 0 && len(p) == len(t) && p[len(p)-1] == n*t[len(t)-1]
	for i := range len(p) - 1 {
		valid = valid && p[i] == t[i]
	}
	switch {
	case !valid:
		panic(&tensor.ShapeError{Op: "QuantileLoss", Shapes: [][]int{p, t}, Hint: fmt.Sprintf("with %d quantiles, the prediction must have %[1]d times as many elements in the last dimension as the target", n)})
	case prediction.Numel() == 0:
		panic(&tensor.ShapeError{Op: "QuantileLoss", Shapes: [][]int{p, t}, Hint: "an empty batch has no mean loss"})
	}
}

// MarginRanking returns the mean over all elements of max(0, -y·(a - b) + margin), a tensor of one
// element, for scores a and b and targets y: 1 where a should be the larger one, and -1 where b
// should. All three have the same shape. It is PyTorch's margin_ranking_loss, whose default margin is 0;
// without a margin, equal scores have no gradient.
func MarginRanking(a, b, order *Tensor, margin float64) *Tensor {
	requireSameShape("MarginRanking", a, b, order)
	requireArgument(margin >= 0, "MarginRanking", fmt.Sprintf("the margin %v is negative or NaN", margin))
	dtype := a.DType()
	a, b = inFloat32(a), inFloat32(b)
	return inType(inType(order, a.DType()).Mul(b.Sub(a)).AddScalar(margin).ReLU().Mean(), dtype)
}
