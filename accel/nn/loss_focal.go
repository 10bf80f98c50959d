package nn

// FocalLoss returns a binary cross-entropy in which elements that are already right count less
// (Lin et al., 2017), for data with few positive targets: the mean over all elements of
// a·(1 - p)^gamma·(-ln p), where p is the probability of the target and a is alpha for positive
// targets and 1 - alpha for negative ones. Logits and targets are those of [BCEWithLogits]. The
// paper has a gamma of 2 and an alpha of 0.25; a negative alpha leaves out a.
func FocalLoss(gamma, alpha float64) Loss {
	requireArgument(gamma >= 0, "FocalLoss", "gamma must not be negative")
	requireArgument(alpha <= 1, "FocalLoss", "alpha must be at most 1")
	return func(logits, target *Tensor) *Tensor {
		requireSameShape("FocalLoss", logits, target)
		dtype := logits.DType()
		logits = inFloat32(logits)
		yes, no, target := bceTerms(logits, target)
		other := target.Neg().AddScalar(1) // 1 - y
		loss := target.Mul(yes).Add(other.Mul(no)).Neg()
		if gamma > 0 {
			wrong := target.Mul(logits.Neg().Sigmoid()).Add(other.Mul(logits.Sigmoid())) // 1 - p
			if gamma < 1 {
				wrong = wrong.AddScalar(1e-30) // the gradient of the power is infinite at 0
			}
			loss = loss.Mul(wrong.PowScalar(gamma))
		}
		if alpha >= 0 {
			loss = loss.Mul(target.MulScalar(alpha).Add(other.MulScalar(1 - alpha)))
		}
		return inType(loss.Mean(), dtype)
	}
}
