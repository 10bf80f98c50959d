package nn

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
