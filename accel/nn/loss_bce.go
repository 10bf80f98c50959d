package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// BCEWithLogits returns the mean over all elements of the binary cross-entropy, a tensor of one
// element: -y·ln σ(x) - (1-y)·ln(1 - σ(x)) for logits x and targets y of the same shape, from 0
// to 1. It is exact for large logits. Each element is a yes-or-no question of its own, so that
// an example may have several labels. [BCEWithLogitsLoss] has options.
func BCEWithLogits(logits, target *Tensor) *Tensor {
	return bceWithLogits("BCEWithLogits", logits, target, nil)
}

// BCEWithLogitsLoss returns [BCEWithLogits] in which positive targets count more than negative
// ones: y·ln σ(x) is multiplied by the weight, for instance by the number of negative examples
// for each positive one. There is one weight for all elements, or one for each element of the
// last dimension. Without a weight it is BCEWithLogits.
func BCEWithLogitsLoss(positiveWeights ...float64) Loss {
	for _, w := range positiveWeights {
		requireArgument(w >= 0, "BCEWithLogitsLoss", fmt.Sprintf("the weight %v is negative or NaN", w))
	}
	return func(logits, target *Tensor) *Tensor {
		return bceWithLogits("BCEWithLogitsLoss", logits, target, positiveWeights)
	}
}

func bceWithLogits(op string, logits, target *Tensor, positiveWeights []float64) *Tensor {
	requireSameShape(op, logits, target)
	yes, no, target := bceTerms(logits, target)
	if len(positiveWeights) > 0 {
		shape := logits.Shape()
		if n := len(positiveWeights); n > 1 && (len(shape) == 0 || shape[len(shape)-1] != n) {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{shape}, Hint: fmt.Sprintf("there are %d weights: there must be one, or one for each element of the last dimension", n)})
		}
		yes = yes.Mul(weights(positiveWeights, logits))
	}
	return target.Mul(yes).Add(target.Neg().AddScalar(1).Mul(no)).Mean().Neg()
}

// bceTerms returns ln σ(x), ln(1 - σ(x)), and the target in the type of the logits. Both are the
// logarithm of a softmax of x and 0, which is exact for large x and has the right gradient at 0.
func bceTerms(logits, target *Tensor) (yes, no, converted *Tensor) {
	if target.DType() != logits.DType() {
		target = target.Cast(logits.DType())
	}
	n := logits.NDim()
	shape := logits.Shape()
	both := tensor.Stack(n, logits, tensor.Zeros(shape...).Cast(logits.DType())).LogSoftmax(n)
	return both.Slice(n, 0, 1).Reshape(shape...), both.Slice(n, 1, 2).Reshape(shape...), target
}

// weights returns weights as a tensor that broadcasts over the last dimension of t, of its type.
func weights(values []float64, t *Tensor) *Tensor {
	w := make([]float32, len(values))
	for i, v := range values {
		w[i] = float32(v)
	}
	return tensor.New(w, len(w)).Cast(t.DType())
}

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
