package nn

import (
	"fmt"
	"math"
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
	none := total.EqScalar(0)
	total = tensor.Where(none, tensor.Full(1).Cast(total.DType()), total) // 0/0 would be NaN, also in the gradient
	loss := ofClass.Mul(weight).Sum()
	if l.smoothing > 0 {
		sum := all.Sum(1)
		if ignored != nil {
			sum = tensor.Where(ignored, zero, sum)
		}
		loss = loss.MulScalar(1 - l.smoothing).Add(sum.Sum().MulScalar(l.smoothing / float64(c)))
	}
	// With smoothing, examples of classes without weight have a loss of the other classes.
	return tensor.Where(none, zero, loss.Div(total).Neg())
}

// Blank sets the class that stands for no label in [CTC]; it is 0 without this option.
func Blank(class int) Option {
	return Option{option.New(func(o *options) { o.blank = class }, "Blank", class)}
}

// ZeroInfinity makes [CTC] leave out sequences that are too short for their labels, whose loss is
// infinite: their loss is 0, and they have no gradient. They still count in the mean, as in PyTorch.
func ZeroInfinity() Option {
	return Option{option.New(func(o *options) { o.zeroInfinity = true }, "ZeroInfinity")}
}

// ctc are the settings and the sizes of a call of [CTC].
type ctc struct {
	options
	n, t, classes int
	states        int   // 2·S+1: blanks before, between and after S labels
	labels        []int // [N, S]
	steps, length []int // of the positions and of the labels of each sequence
}

// CTC returns the connectionist temporal classification loss (Graves et al., 2006), for sequences
// whose labels are known but not their positions, as in speech and handwriting: the mean over the
// batch of -ln p(labels)/max(1, number of labels), a tensor of one element, where p adds the
// probabilities of all ways to place the labels, in order, among the positions, with blanks between
// them and repetitions of each.
//
// logProbabilities [N, T, C] are logarithms of probabilities, such as the result of LogSoftmax(-1);
// PyTorch's ctc_loss has [T, N, C]. labels [N, S] are classes without the blank; what follows the
// first labelLengths[n] of them is ignored. inputLengths and labelLengths [N] are at most T and S. All
// three are integers, and are read at once, as in PyTorch. A sequence that is too short for its labels
// (equal neighbours need a blank between them) has an infinite loss, without a gradient; see
// [ZeroInfinity].
//
// The forward algorithm runs in logarithms over the positions, one after the other, so that its time is
// proportional to T; a new T is a new plan.
func CTC(logProbabilities, labels, inputLengths, labelLengths *Tensor, given ...Option) *Tensor {
	c := &ctc{options: options{}.read("CTC", given, "Blank", "ZeroInfinity")}
	c.read(logProbabilities, labels, inputLengths, labelLengths)
	x := inFloat32(logProbabilities).Clamp(impossible, math.Inf(1)) // -Inf - (-Inf) would be NaN
	emissions := c.emissions(x)
	alpha, skips, running := c.start(x), c.skips(), c.running()
	for t := range c.t {
		at := func(of *Tensor, width int) *Tensor { return of.Slice(0, t, t+1).Reshape(c.n, width) }
		alpha = tensor.Where(at(running, 1), c.next(alpha, skips).Add(at(emissions, c.states)), alpha)
	}
	none := tensor.Full(impossible).Cast(x.DType())
	total := tensor.Where(c.final(), alpha, none).LogSumExp(1)
	without := constant(math.Inf(1), x)
	if c.zeroInfinity {
		without = constant(0, x)
	}
	each := tensor.Where(total.LessScalar(impossible/2), without, total.Neg().Mul(c.inverseLengths(x)))
	return inType(each.Mean(), logProbabilities.DType())
}

// impossible is the logarithm of a probability of 0. It is finite, so that differences and gradients
// are not NaN, and a sum over all positions does not overflow float32.
const impossible = -1e30

// read checks the arguments and reads the integers.
func (c *ctc) read(logProbabilities, labels, inputLengths, labelLengths *Tensor) {
	x, l := logProbabilities.Shape(), labels.Shape()
	shapes := [][]int{x, l, inputLengths.Shape(), labelLengths.Shape()}
	reject := func(valid bool, format string, arguments ...any) {
		if !valid {
			panic(&tensor.ShapeError{Op: "CTC", Shapes: shapes, Hint: fmt.Sprintf(format, arguments...)})
		}
	}
	reject(len(x) == 3 && len(l) == 2 && l[0] == x[0] && isRow(inputLengths, x[0]) && isRow(labelLengths, x[0]),
		"the shapes must be [N T C], [N S], [N] and [N]")
	reject(logProbabilities.Numel() > 0, "an empty batch has no mean loss")
	for _, t := range []*Tensor{labels, inputLengths, labelLengths} {
		if t.DType().IsFloat() {
			panic(&tensor.DTypeError{Op: "CTC", DTypes: []tensor.DType{logProbabilities.DType(), t.DType()}, Hint: "labels and lengths must be integers: t.Cast(tensor.Int32) converts them"})
		}
	}
	c.n, c.t, c.classes, c.states = x[0], x[1], x[2], 2*l[1]+1
	reject(c.blank >= 0 && c.blank < c.classes, "the blank %d is not one of %d classes", c.blank, c.classes)
	c.labels, c.steps, c.length = labels.Ints(), inputLengths.Ints(), labelLengths.Ints()
	for n := range c.n {
		reject(c.steps[n] >= 0 && c.steps[n] <= c.t, "the length %d of sequence %d is not from 0 to %d", c.steps[n], n, c.t)
		reject(c.length[n] >= 0 && c.length[n] <= l[1], "the number of labels %d of sequence %d is not from 0 to %d", c.length[n], n, l[1])
		for s := range c.length[n] {
			k := c.label(n, s)
			reject(k >= 0 && k < c.classes && k != c.blank, "label %d of sequence %d is %d: it must be from 0 to %d, and not the blank %d", s, n, k, c.classes-1, c.blank)
		}
	}
}

func isRow(t *Tensor, n int) bool { return t.NDim() == 1 && t.Size(0) == n }

// label returns label s of sequence n.
func (c *ctc) label(n, s int) int { return c.labels[n*(c.states/2)+s] }

// class returns the class of a state, which is a blank for even states and behind the labels.
func (c *ctc) class(n, state int) int {
	if state%2 == 0 || state/2 >= c.length[n] {
		return c.blank
	}
	return c.label(n, state/2)
}

// emissions returns x[n, t, class of the state] as [T, N, states].
func (c *ctc) emissions(x *Tensor) *Tensor {
	rows := make([]int, 0, c.n*c.states)
	for n := range c.n {
		for state := range c.states {
			rows = append(rows, n*c.classes+c.class(n, state))
		}
	}
	each := x.Permute(0, 2, 1).Reshape(c.n*c.classes, c.t).IndexSelect(tensor.FromInts(rows, len(rows)))
	return each.Permute(1, 0).Reshape(c.t, c.n, c.states)
}

// start returns the logarithms of the probabilities [N, states] before the first position, from which
// only states 0 and 1 are reached.
func (c *ctc) start(x *Tensor) *Tensor {
	return c.mask(func(_, state int) bool { return state == 0 }).Cast(x.DType()).AddScalar(-1).MulScalar(-impossible)
}

// next returns the logarithms of the probabilities to get from the states, [N, states], to each one: from
// itself, from the one before, and over a blank where skips is 1.
func (c *ctc) next(alpha, skips *Tensor) *Tensor {
	if c.states == 1 {
		return alpha
	}
	shifted := func(by int) *Tensor {
		first := tensor.Full(impossible, c.n, by).Cast(alpha.DType())
		return tensor.Concat(1, first, alpha.Slice(1, 0, c.states-by))
	}
	over := tensor.Where(skips, shifted(2), tensor.Full(impossible).Cast(alpha.DType()))
	return tensor.Stack(2, alpha, shifted(1), over).LogSumExp(2)
}

// skips returns 1 for the states of labels that differ from the label before, else 0.
func (c *ctc) skips() *Tensor {
	return c.mask(func(n, state int) bool {
		return state%2 == 1 && state > 1 && c.class(n, state) != c.class(n, state-2)
	})
}

// running returns 1 for the positions that a sequence has, as [T, N, 1].
func (c *ctc) running() *Tensor {
	at := make([]float32, c.t*c.n)
	for i := range at {
		if i/c.n < c.steps[i%c.n] {
			at[i] = 1
		}
	}
	return tensor.New(at, c.t, c.n, 1)
}

// final returns 1 for the states in which a sequence may end: its last label and the blank behind it.
func (c *ctc) final() *Tensor {
	return c.mask(func(n, state int) bool { return state == 2*c.length[n] || state == 2*c.length[n]-1 })
}

// mask returns 1 for the states for which is returns true, else 0, as [N, states].
func (c *ctc) mask(is func(n, state int) bool) *Tensor {
	values := make([]float32, c.n*c.states)
	for i := range values {
		if is(i/c.states, i%c.states) {
			values[i] = 1
		}
	}
	return tensor.New(values, c.n, c.states)
}

// inverseLengths returns 1/max(1, number of labels) of each sequence.
func (c *ctc) inverseLengths(x *Tensor) *Tensor {
	values := make([]float64, c.n)
	for n := range values {
		values[n] = 1 / float64(max(1, c.length[n]))
	}
	return tensor.FromFloat64s(values, c.n).Cast(x.DType())
}
