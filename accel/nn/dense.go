package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// Linear is y = x·Wᵀ + b; [Dense] makes it. Weight and Bias are nil until the
// first input has told the size of the last dimension.
type Linear struct {
	Weight *Tensor // [out, in]
	Bias   *Tensor // [out], nil with NoBias

	out    int
	noBias bool
	frozen bool // before there are parameters: they will need no gradient
}

// DenseOption changes a Linear.
type DenseOption struct {
	text string
	set  func(*Linear)
}

// String is the option as it is written in Go.
func (o DenseOption) String() string { return o.text }

// NoBias leaves out the bias.
func NoBias() DenseOption {
	return DenseOption{"NoBias()", func(l *Linear) { l.noBias = true }}
}

// Dense is a fully connected layer with out outputs: y = x·Wᵀ + b over the last
// dimension of x, whose size the first input tells. W and b start uniform in
// ±1/√in, as PyTorch's Linear (He et al., 2015, with a = √5), from the stream
// that the seed fixes.
func Dense(out int, options ...DenseOption) *Linear {
	l := &Linear{out: out}
	for _, o := range options {
		if o.set != nil {
			o.set(l)
		}
	}
	return l
}

// Forward maps [N, in] to [N, out], and any [… in] to [… out].
func (l *Linear) Forward(x *Tensor) *Tensor {
	if l.Weight == nil {
		l.start(x.Shape())
	}
	return tensor.Linear(x, l.Weight, l.Bias)
}

func (*Linear) private() bool { return true }

// start makes the parameters for inputs of this shape.
func (l *Linear) start(shape []int) {
	if len(shape) == 0 || shape[len(shape)-1] < 1 || l.out < 1 {
		panic(&tensor.ShapeError{Op: "Dense", Shapes: [][]int{shape}, Hint: "the last dimension and the number of outputs must be at least 1"})
	}
	in := shape[len(shape)-1]
	bound := 1 / math.Sqrt(float64(in))
	l.Weight = tensor.Uniform(nil, -bound, bound, l.out, in)
	l.Weight.SetRequiresGrad(!l.frozen)
	if !l.noBias {
		l.Bias = tensor.Uniform(nil, -bound, bound, l.out)
		l.Bias.SetRequiresGrad(!l.frozen)
	}
}

// String is the layer as it is written in Go.
func (l *Linear) String() string {
	if l.noBias {
		return fmt.Sprintf("Dense(%d, NoBias())", l.out)
	}
	return fmt.Sprintf("Dense(%d)", l.out)
}
