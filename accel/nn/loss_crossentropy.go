package nn

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/divisor"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// classLoss is [CrossEntropyLoss] or [NLLLoss] with their options.
type classLoss struct {
	op string
	options
}

// LabelSmoothing makes [CrossEntropyLoss] give every class, also the wrong ones, a share of the target: each of the C
// classes gets e/C, and the right class the rest (Szegedy et al., 2016). e is from 0 to 1.
func LabelSmoothing(e float64) Option {
	return Option{option.New(func(o *options) { o.smoothing = e }, "LabelSmoothing", e).
		Require(e >= 0 && e <= 1, "the share must be from 0 to 1")}
}

// ClassWeights multiplies the loss of each example by the weight of its class, for data in which
// some classes are rare. The sum is divided by the sum of the weights of the examples; if that is
// 0, the loss is 0. In Fit and Evaluate that is the sum over all batches and ranks. For targets that
// are probabilities the sum is divided by the number of examples, as in PyTorch.
func ClassWeights(weights ...float64) Option {
	o := option.New(func(o *options) { o.weights = slices.Clone(weights) }, "ClassWeights", option.Each(weights)...)
	for c, w := range weights {
		o = o.Require(w >= 0, fmt.Sprintf("the weight %v of class %d is negative or NaN", w, c))
	}
	return Option{o}
}

// IgnoreIndex leaves out examples, or tokens of sequences, with this class, for instance of
// padding. The mean is that of the others. A batch without others has a loss of 0 and changes
// nothing, so that one such batch does not end a training; in PyTorch it is NaN.
func IgnoreIndex(class int) Option {
	const exact = 1 << 24 // float32 has all integers up to this one
	return Option{option.New(func(o *options) { o.ignore = &class }, "IgnoreIndex", class).
		Require(-exact <= class && class <= exact, fmt.Sprintf("the class must be from %d to %d", -exact, exact))}
}

// CrossEntropyLoss returns [CrossEntropy] with the options [LabelSmoothing], [ClassWeights] and
// [IgnoreIndex]. The latter has no meaning for targets that are probabilities, which panic with a
// *tensor.ShapeError.
func CrossEntropyLoss(given ...Option) Loss {
	l := classLoss{"CrossEntropyLoss", options{}.read("CrossEntropyLoss", given, "LabelSmoothing", "ClassWeights", "IgnoreIndex")}
	if l.weights == nil && l.ignore == nil && l.smoothing == 0 {
		return CrossEntropy
	}
	return func(logits, classes *Tensor) *Tensor {
		if areProbabilities(logits, classes) {
			return l.soft(logits, classes)
		}
		rows, classes := l.flatten(&scratch{}, logits, classes)
		if l.weights == nil && l.smoothing == 0 {
			divisor.Report(classes.EqScalar(float64(*l.ignore)).Not().Sum())
			return inType(tensor.MaskedCrossEntropy(inFloat32(rows), classes, *l.ignore), logits.DType())
		}
		return inType(l.mean(inFloat32(rows).LogSoftmax(-1), classes), logits.DType())
	}
}

// NLL returns the mean over the batch of -x[class], a tensor of one element, where x are
// logarithms of probabilities, such as the result of LogSoftmax. Shapes and errors are those of
// [CrossEntropy]. [NLLLoss] has options.
func NLL(logProbabilities, classes *Tensor) *Tensor {
	return classLoss{op: "NLL"}.nll(logProbabilities, classes)
}

// NLLLoss returns [NLL] with the options [ClassWeights] and [IgnoreIndex].
func NLLLoss(given ...Option) Loss {
	return classLoss{"NLLLoss", options{}.read("NLLLoss", given, "ClassWeights", "IgnoreIndex")}.nll
}

func (l classLoss) nll(logProbabilities, classes *Tensor) *Tensor {
	rows, classes := l.flatten(&scratch{}, logProbabilities, classes)
	return inType(l.mean(inFloat32(rows), classes), logProbabilities.DType())
}

// flatten returns scores [N, C] and classes [N], also for sequences and for images with a class of each
// pixel. They belong to s.
func (l classLoss) flatten(s *scratch, scores, classes *Tensor) (rows, flat *Tensor) {
	of, c := scores.Shape(), classes.Shape()
	switch expected, hint := withoutClasses(of); {
	case !slices.Equal(expected, c):
		if len(of) > 2 && len(c) == 1 && of[0] == c[0] {
			hint = scoresHint + "; is Flatten missing in the model?"
		}
		if len(of) > 3 && len(c) == 2 && of[0] == c[0] && c[1] == product(of[2:]) {
			hint = "scores for the classes of pixels in one row must be [N H*W C]: x.Reshape(n, c, h*w).Permute(0, 2, 1) as the last step of the model makes them of [N C H W]"
		}
		panic(&tensor.ShapeError{Op: l.op, Shapes: [][]int{of, c}, Hint: hint})
	case classes.Numel() == 0 || scores.Numel() == 0:
		panic(&tensor.ShapeError{Op: l.op, Shapes: [][]int{of, c}, Hint: "an empty batch has no mean loss"})
	case l.weights != nil && len(l.weights) != of[classAxis(of)]:
		panic(&tensor.ShapeError{Op: l.op, Shapes: [][]int{of, c}, Hint: fmt.Sprintf("there are %d class weights for %d classes", len(l.weights), of[classAxis(of)])})
	case classes.DType().IsFloat():
		panic(&tensor.DTypeError{Op: l.op, DTypes: []tensor.DType{scores.DType(), classes.DType()}, Hint: "classes must be integers: labels.Cast(tensor.Int32) converts them, tensor.FromInts(classes, n) creates n of them"})
	}
	if len(of) == 2 { // classes that are known are checked at once
		return scores, classes
	}
	return s.keep(s.keep(classesLast(scores)).Reshape(-1, of[classAxis(of)])), s.keep(classes.Reshape(-1))
}

// classAxis is the axis of the classes in logits of a shape: the last one of [N, C] and of sequences
// [N, T, C], and the channels of images [N, C, H, W] and volumes.
func classAxis(shape []int) int {
	if n := len(shape); n <= 3 {
		return n - 1
	}
	return 1
}

const scoresHint = "scores must be [N C] and classes [N], or [N T C] and [N T]"

// withoutClasses returns the shape of the classes of logits of a shape, nil if there are none, and
// which shapes there are.
func withoutClasses(shape []int) (classes []int, hint string) {
	if len(shape) < 2 {
		return nil, scoresHint
	}
	hint = scoresHint
	if len(shape) > 3 {
		hint = "scores of pixels must be [N C H W] and classes [N H W]"
	}
	at := classAxis(shape)
	return slices.Delete(slices.Clone(shape), at, at+1), hint
}

// classesLast moves the classes of logits to the last axis.
func classesLast(t *Tensor) *Tensor {
	n := t.NDim()
	if n <= 3 {
		return t.Reshape(t.Shape()...)
	}
	order := []int{0}
	for axis := 2; axis < n; axis++ {
		order = append(order, axis)
	}
	return t.Permute(append(order, 1)...)
}

// areProbabilities reports whether the target of logits is a probability for each of them.
func areProbabilities(logits, target *Tensor) bool {
	return logits.NDim() >= 2 && target.DType().IsFloat() && slices.Equal(logits.Shape(), target.Shape())
}

// soft returns the mean over the examples, or tokens, of -Σ y·ln softmax(logits) for probabilities y.
func (l classLoss) soft(logits, y *Tensor) *Tensor {
	shape := logits.Shape()
	classes := shape[classAxis(shape)]
	switch {
	case logits.Numel() == 0:
		panic(&tensor.ShapeError{Op: l.op, Shapes: [][]int{shape, y.Shape()}, Hint: "an empty batch has no mean loss"})
	case l.ignore != nil:
		panic(&tensor.ShapeError{Op: l.op, Shapes: [][]int{shape, y.Shape()}, Hint: "targets that are probabilities have no class to ignore: leave out IgnoreIndex"})
	case l.weights != nil && len(l.weights) != classes:
		panic(&tensor.ShapeError{Op: l.op, Shapes: [][]int{shape, y.Shape()}, Hint: fmt.Sprintf("there are %d class weights for %d classes", len(l.weights), classes)})
	}
	if len(shape) > 3 {
		logits, y = classesLast(logits), classesLast(y)
	}
	logits = inFloat32(logits)
	y = inType(y, logits.DType())
	if l.smoothing > 0 {
		y = y.MulScalar(1 - l.smoothing).AddScalar(l.smoothing / float64(classes))
	}
	if l.weights != nil {
		y = y.Mul(weights(l.weights, y))
	}
	// The logarithm is -Inf for a logit of -Inf, where 0·(-Inf) would be NaN.
	each := tensor.Where(y.EqScalar(0), constant(0, y), logits.LogSoftmax(-1).Mul(y))
	return each.Sum(-1).Mean().Neg()
}

// mean returns the weighted mean of -x[class] for logarithms of probabilities [N, C].
func (l classLoss) mean(x, classes *Tensor) *Tensor {
	c := x.Size(1)
	zero := constant(0, x)
	var ignored *Tensor // 1 for examples that are left out
	if l.ignore != nil {
		index := classes.Cast(tensor.Float32) // uint8 has no -100
		ignored = index.Eq(tensor.Full(float64(*l.ignore)))
		classes = tensor.Where(ignored, tensor.Full(0), index).Cast(tensor.Int32)
	}
	right := classes.OneHot(c)
	if l.weights == nil && l.ignore == nil && l.smoothing == 0 {
		return tensor.Where(right, x, zero).Sum(1).Mean().Neg()
	}
	ofClass := tensor.Where(right, x, zero).Sum(1) // not a product, since 0·(-Inf) is NaN
	weight := tensor.Ones(x.Size(0)).Cast(x.DType())
	all := x
	if l.weights != nil {
		w := weights(l.weights, x)
		weight = right.Cast(x.DType()).Mul(w).Sum(1)
		all = x.Mul(w)
	}
	if ignored != nil {
		weight = tensor.Where(ignored, zero, weight)
		ofClass = tensor.Where(ignored, zero, ofClass)
	}
	total := weight.Sum()
	if l.weights != nil || l.ignore != nil {
		divisor.Report(total)
	}
	total = tensor.Where(total.EqScalar(0), tensor.Full(1).Cast(total.DType()), total) // 0/0 would be NaN, also in the gradient
	loss := ofClass.Mul(weight).Sum()
	if l.smoothing > 0 {
		sum := all.Sum(1)
		if ignored != nil {
			sum = tensor.Where(ignored, zero, sum)
		}
		loss = loss.MulScalar(1 - l.smoothing).Add(sum.Sum().MulScalar(l.smoothing / float64(c)))
	}
	return loss.Div(total).Neg()
}
