package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// DenseLayer is a fully connected layer; [Dense] returns it. Weight and Bias are nil until the
// first input, which determines the number of inputs.
type DenseLayer struct {
	lazyState
	Weight *Tensor // [out, in]
	Bias   *Tensor // [out], nil with NoBias

	*adapter           // of LoRA; nil for none
	split    partition // of tensor parallelism; nil for none

	out    int
	noBias bool
}

// NoBias leaves out the bias of [Dense], convolutions, recurrent layers, and the projections of
// [GroupedQueryAttention].
func NoBias() Option { return Option{option.New(func(o *options) { o.noBias = true }, "NoBias")} }

// Dense returns a fully connected layer with out outputs: y = x·Wᵀ + b over the last dimension
// of x. The first input determines its size. W and b are initialized uniformly in ±1/√in, like
// PyTorch's Linear (He et al., 2015, with a = √5); accel.Seed sets the random numbers. It takes the
// option [NoBias].
func Dense(out int, given ...Option) *DenseLayer {
	return &DenseLayer{out: out, noBias: options{}.read("Dense", given, "NoBias").noBias}
}

// Forward maps [N, in] to [N, out], and any [… in] to [… out].
func (l *DenseLayer) Forward(x *Tensor) *Tensor {
	if other := layer.Substituted(&l.Weight); other != nil {
		return other(x)
	}
	if l.Weight == nil {
		l.start(x.Shape())
	}
	l.checkInputs(x.Shape())
	switch {
	case l.split != nil:
		return l.divided(x)
	case l.adapter == nil:
		return tensor.Linear(x, l.Weight, l.Bias)
	}
	var s scratch
	defer s.release()
	return s.keep(tensor.Linear(x, l.Weight, l.Bias)).Add(s.keep(l.adapter.Change(x)))
}

// Layer describes the layer to the packages that transform models (prune, quantize, onnx). A layer
// that [LoRA] adapts, or that several ranks share, is none that they know.
func (l *DenseLayer) Layer() any {
	if l.adapter != nil || l.split != nil {
		return nil
	}
	p := layer.MatMul{Names: [2]string{"weight", "bias"}, Weight: &l.Weight, SetOut: func(n int) { l.out = n }}
	if !l.noBias {
		p.Bias = &l.Bias
	}
	return p
}

// start creates the parameters for an input of this shape.
func (l *DenseLayer) start(shape []int) {
	switch {
	case l.out < 1:
		panic(&tensor.ShapeError{Op: "Dense", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the layer has %d outputs, but it must have at least 1", l.out)})
	case len(shape) == 0 || shape[len(shape)-1] < 1:
		panic(&tensor.ShapeError{Op: "Dense", Shapes: [][]int{shape}, Hint: "the last dimension of the input must be at least 1"})
	}
	in := shape[len(shape)-1]
	l.Weight = uniform(in, !l.frozen, l.out, in)
	if !l.noBias {
		l.Bias = uniform(in, !l.frozen, l.out)
	}
}

// checkInputs panics unless an input of this shape has as many values in its last dimension as
// the weight has columns.
func (l *DenseLayer) checkInputs(shape []int) {
	weight := l.Weight.Shape()
	if len(weight) != 2 || len(shape) > 0 && shape[len(shape)-1] == weight[1] {
		return // what else is wrong is an error of tensor.Linear
	}
	in, hint := weight[1], ""
	switch n := len(shape); {
	case n == 0:
		hint = fmt.Sprintf("expects %d inputs but got a scalar", in)
	case n > 2 && product(shape[1:]) == in, n > 3: // images that were not flattened
		hint = fmt.Sprintf("expects %d inputs but got %d; is Flatten missing?", in, shape[n-1])
	default:
		hint = fmt.Sprintf("expects %d inputs but got %d", in, shape[n-1])
	}
	panic(&tensor.ShapeError{Op: "Dense", Shapes: [][]int{shape, weight}, Hint: hint})
}

// product returns the number of elements of a tensor of this shape.
func product(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// uniform returns a parameter with values in ±1/√in, where in is the number of inputs of each
// output.
func uniform(in int, trained bool, shape ...int) *Tensor {
	bound := 1 / math.Sqrt(float64(in))
	p := tensor.Uniform(tensor.WeightGenerator(), -bound, bound, shape...)
	p.SetRequiresGrad(trained)
	return p
}

// String returns the layer as Go code.
func (l *DenseLayer) String() string {
	out := l.out
	if l.Weight != nil { // a file may have set it
		out = l.Weight.Size(0)
	}
	if l.noBias {
		return fmt.Sprintf("Dense(%d, NoBias())", out)
	}
	return fmt.Sprintf("Dense(%d)", out)
}
