package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/divisor"
	"github.com/quernlab/quern/accel/tensor"
)

// Loss computes a loss from a prediction and a target: the mean over the batch, a tensor of one
// element. [MSE] and [CrossEntropy] are such functions, and any function of this type can be
// passed to accel.Minimize.
type Loss = func(prediction, target *Tensor) *Tensor

// CrossEntropy returns the mean over the batch of -ln softmax(logits)[class], a tensor of one
// element, for logits [N, C] and class indices [N] of type int32. For sequences, logits [N, T,
// C] and indices [N, T], it is the mean over all tokens. For images with a class of each pixel,
// logits [N, C, H, W] and indices [N, H, W], it is the mean over all pixels; as in PyTorch the
// classes are the channels, also of volumes [N, C, D, H, W]. It panics with a *tensor.IndexError if
// a class is not in 0..C-1. [CrossEntropyLoss] has options.
//
// Instead of an index, a target may be a probability for each class, such as the softmax of another
// model's logits: floats of the shape of the logits. Then it is the mean of -Σ y·ln softmax(logits).
func CrossEntropy(logits, classes *Tensor) *Tensor {
	l := classLoss{op: "CrossEntropy"}
	if areProbabilities(logits, classes) {
		return l.soft(logits, classes)
	}
	if logits.NDim() < 3 || classes.NDim() < 2 || logits.NDim() == 3 && classes.NDim() != 2 {
		return tensor.CrossEntropy(logits, classes)
	}
	var s scratch
	defer s.release()
	rows, flat := l.flatten(&s, logits, classes)
	return tensor.CrossEntropy(rows, flat)
}

// MSE returns the mean squared error over all elements, a tensor of one element. Both tensors
// must have the same shape.
func MSE(prediction, target *Tensor) *Tensor {
	return tensor.MSE(prediction, target)
}

// WeightedMean returns Σ w·v / Σ w, a tensor of one element, for a loss of your own with weights or a
// mask: the losses v of examples, tokens or pixels, and weights w that are not negative and broadcast
// to their shape. It is 0 if all weights are 0. In Fit, Evaluate and with several ranks it is the
// quotient of the sums over all batches, so that the result does not depend on how examples fall into
// batches; v.Mul(w).Sum().Div(w.Sum()) has the mean of the quotients.
func WeightedMean(values, weights *Tensor) *Tensor {
	dtype := values.DType()
	values = inFloat32(values)
	w := weights.Cast(values.DType()).Expand(values.Shape()...)
	total := w.Sum().Detach()
	divisor.Report(total)
	total = tensor.Where(total.EqScalar(0), constant(1, total), total)
	zero := constant(0, values)
	sum := tensor.Where(w.EqScalar(0), zero, values.Mul(w)).Sum() // 0·Inf would be NaN
	return inType(sum.Div(total), dtype)
}

// requireSameShape panics unless the tensors have equal shapes and at least one element.
func requireSameShape(op string, first *Tensor, others ...*Tensor) {
	shapes := [][]int{first.Shape()}
	equal := true
	for _, t := range others {
		shapes = append(shapes, t.Shape())
		equal = equal && slices.Equal(shapes[0], t.Shape())
	}
	switch {
	case !equal:
		panic(&tensor.ShapeError{Op: op, Shapes: shapes, Hint: "the shapes must be equal"})
	case first.Numel() == 0:
		panic(&tensor.ShapeError{Op: op, Shapes: shapes, Hint: "an empty batch has no mean loss"})
	}
}

// requireArgument panics unless an argument of a loss is valid.
func requireArgument(valid bool, op, hint string) {
	if !valid {
		panic(&tensor.ShapeError{Op: op, Hint: hint})
	}
}

// inFloat32 converts 16-bit floats to float32. Their sums overflow (65,504 is the largest number of FP16) or
// lose examples (2,048 + 1 is 2,048), and squares of small numbers are 0.
func inFloat32(t *Tensor) *Tensor {
	if t.DType().Is16Bit() {
		return t.Cast(tensor.Float32)
	}
	return t
}

// inType converts to an element type.
func inType(t *Tensor, d tensor.DType) *Tensor {
	if t.DType() != d {
		return t.Cast(d)
	}
	return t
}

// constant returns a scalar of the element type of t.
func constant(value float64, t *Tensor) *Tensor {
	return tensor.Full(value).Cast(t.DType())
}

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
	target = inType(target, logits.DType())
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

// TripletMargin returns the mean over the batch of max(0, d(a, p) - d(a, n) + margin), a tensor
// of one element, where d is the Euclidean distance along the last dimension (Schroff et al.,
// 2015). Training with it moves embeddings of the same class together: a is an anchor, p an
// example of its class, and n one of another class. All three have the same shape.
func TripletMargin(anchor, positive, negative *Tensor, margin float64) *Tensor {
	requireSameShape("TripletMargin", anchor, positive, negative)
	requireArgument(anchor.NDim() > 0, "TripletMargin", "the tensors need a dimension of features")
	requireArgument(margin > 0, "TripletMargin", fmt.Sprintf("the margin %v must be positive", margin))
	dtype := anchor.DType()
	anchor, positive, negative = inFloat32(anchor), inFloat32(positive), inFloat32(negative)
	const epsilon = 1e-6 // as in PyTorch
	distance := func(other *Tensor) *Tensor { return anchor.Sub(other).AddScalar(epsilon).Norm(-1) }
	return inType(distance(positive).Sub(distance(negative)).AddScalar(margin).ReLU().Mean(), dtype)
}

// CosineEmbedding returns the mean over the batch of 1 - cos(a, b) for pairs that belong
// together, and of max(0, cos(a, b) - margin) for others, a tensor of one element. a and b are
// [N, D]; same is [N], with 1 for pairs that belong together and -1 for others.
func CosineEmbedding(a, b, same *Tensor, margin float64) *Tensor {
	requireSameShape("CosineEmbedding", a, b)
	requireArgument(margin >= -1 && margin <= 1, "CosineEmbedding", fmt.Sprintf("the margin %v must be from -1 to 1", margin))
	if shape := a.Shape(); len(shape) != 2 || same.NDim() != 1 || same.Size(0) != shape[0] {
		panic(&tensor.ShapeError{Op: "CosineEmbedding", Shapes: [][]int{shape, b.Shape(), same.Shape()}, Hint: "a and b must be [N D], same must be [N]"})
	}
	dtype := a.DType()
	a, b, same = inFloat32(a), inFloat32(b), inFloat32(same)
	const epsilon = 1e-12 // as in PyTorch
	square := func(t *Tensor) *Tensor { return t.Square().Sum(-1).AddScalar(epsilon) }
	cos := a.Mul(b).Sum(-1).Div(square(a).Mul(square(b)).Sqrt())
	zero := constant(0, cos)
	together := tensor.Where(same.Eq(constant(1, same)), cos.Neg().AddScalar(1), zero)
	apart := tensor.Where(same.Eq(constant(-1, same)), cos.AddScalar(-margin).ReLU(), zero)
	return inType(together.Add(apart).Mean(), dtype)
}

// BatchHardTriplet returns a loss for embeddings [N, D] and their classes [N], for which no triplets need to be
// chosen: for each example of the batch, max(0, d⁺ - d⁻ + margin), where d⁺ is the distance to the farthest other
// example of its class and d⁻ that to the nearest one of another class (Hermans, Beyer and Leibe, In Defense of the
// Triplet Loss for Person Re-Identification, 2017). It is the mean over the examples that have both, and 0 if none
// has. Distances are Euclidean; embeddings are mostly normalized ([tensor.Tensor.Normalize]). Batches need several
// examples of each class.
func BatchHardTriplet(margin float64) Loss {
	requireArgument(margin > 0, "BatchHardTriplet", fmt.Sprintf("the margin %v must be positive", margin))
	return func(embeddings, classes *Tensor) *Tensor {
		x, y := embeddings.Shape(), classes.Shape()
		if len(x) != 2 || len(y) != 1 || x[0] != y[0] || x[0] == 0 {
			panic(&tensor.ShapeError{Op: "BatchHardTriplet", Shapes: [][]int{x, y}, Hint: "embeddings must be [N D] and classes [N], with at least one example"})
		}
		rows := inFloat32(embeddings)
		distances := tensor.CDist(rows, rows)
		same := classes.Unsqueeze(1).Eq(classes.Unsqueeze(0))
		others := same.Mul(tensor.Eye(x[0]).Neg().AddScalar(1)) // of the same class, without the example itself
		far := distances.MaskedFill(others.Not(), math.Inf(-1)).Max(1)
		near := distances.MaskedFill(same, math.Inf(1)).Min(1)
		both := others.Any(1).Mul(same.Not().Any(1))
		each := far.Sub(near).AddScalar(margin).ReLU().MaskedFill(both.Not(), 0)
		return inType(each.Sum().Div(inType(both.Sum().Maximum(tensor.Ones()), each.DType())), embeddings.DType())
	}
}

// Distillation returns a loss of a student's logits [N, C] for those of its teacher, T²·KL(softmax(teacher/T) ‖
// softmax(student/T)), the mean over the batch (Hinton, Vinyals and Dean, Distilling the Knowledge in a Neural
// Network, 2015). The temperature T, mostly 2 to 5, shows what the teacher knows of classes that it rejects. The
// factor T² keeps the gradients as large as those of [CrossEntropy], to which it is often added. No gradient
// flows into the teacher.
func Distillation(temperature float64) Loss {
	requireArgument(temperature > 0 && !math.IsInf(temperature, 1), "Distillation", fmt.Sprintf("the temperature %v must be positive", temperature))
	return func(student, teacher *Tensor) *Tensor {
		requireSameShape("Distillation", student, teacher)
		if shape := student.Shape(); len(shape) < 2 || student.Numel() == 0 {
			panic(&tensor.ShapeError{Op: "Distillation", Shapes: [][]int{shape}, Hint: "the logits must be [N C], with at least one example"})
		}
		soft := func(t *Tensor) *Tensor { return inFloat32(t).MulScalar(1 / temperature).LogSoftmax(-1) }
		wanted := soft(teacher.Detach())
		each := wanted.Exp().Mul(wanted.Sub(soft(student))).Sum(-1)
		return inType(each.Mean().MulScalar(temperature*temperature), student.DType())
	}
}
