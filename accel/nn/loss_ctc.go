package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

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
