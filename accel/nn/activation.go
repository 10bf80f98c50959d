package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// ReLU returns a layer that computes max(x, 0).
func ReLU() Module { return &activation{"ReLU", (*Tensor).ReLU} }

// GELU returns a layer that computes x·Φ(x), where Φ is the cumulative distribution function of
// the normal distribution (Hendrycks and Gimpel, 2016), in the exact form.
func GELU() Module { return &activation{"GELU", (*Tensor).GELU} }

// GELUTanh returns a layer that approximates [GELU], as PyTorch's GELU does with approximate="tanh":
// x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))). GPT-2 was trained with it.
func GELUTanh() Module { return &activation{"GELUTanh", (*Tensor).GELUTanh} }

// Tanh returns a layer that computes the hyperbolic tangent.
func Tanh() Module { return &activation{"Tanh", (*Tensor).Tanh} }

// Sigmoid returns a layer that computes 1 / (1 + e⁻ˣ).
func Sigmoid() Module { return &activation{"Sigmoid", (*Tensor).Sigmoid} }

// SiLU returns a layer that computes x·σ(x), where σ is the sigmoid (Elfwing et al., 2017).
func SiLU() Module { return &activation{"SiLU", (*Tensor).SiLU} }

// LeakyReLU returns a layer that computes x for positive x and slope·x for others (Maas et al.,
// 2013). PyTorch's default slope is 0.01.
func LeakyReLU(slope float64) Module {
	return &activation{fmt.Sprintf("LeakyReLU(%g)", slope), func(x *Tensor) *Tensor { return x.LeakyReLU(slope) }}
}

// ELU returns a layer that computes x for positive x and scale·(eˣ - 1) for others (Clevert et al.,
// 2016). PyTorch's default scale is 1.
func ELU(scale float64) Module {
	return &activation{fmt.Sprintf("ELU(%g)", scale), func(x *Tensor) *Tensor { return x.ELU(scale) }}
}

// Softplus returns a layer that computes ln(1 + eˣ), a smooth [ReLU] that is always positive (Dugas et
// al., 2001).
func Softplus() Module { return &activation{"Softplus", (*Tensor).Softplus} }

// Softmax returns a layer that computes eˣ / Σ eˣ along an axis, usually -1, as PyTorch's Softmax(dim).
// The losses of this package take logits, and so a model for [CrossEntropy] has no Softmax at its end.
func Softmax(along int) Module {
	return &alongAxis{activation{fmt.Sprintf("Softmax(%d)", along), func(x *Tensor) *Tensor { return x.Softmax(along) }}}
}

// LogSoftmax returns a layer that computes the logarithm of [Softmax], as [NLL], [KLDiv] and [CTC] take it.
func LogSoftmax(along int) Module {
	return &alongAxis{activation{fmt.Sprintf("LogSoftmax(%d)", along), func(x *Tensor) *Tensor { return x.LogSoftmax(along) }}}
}

// alongAxis is a function without parameters that is not elementwise.
type alongAxis struct{ activation }

func (*alongAxis) Layer() any { return nil }

// Identity returns a layer that returns its input, to take the place of another one.
func Identity() Module { return &activation{"Identity", func(x *Tensor) *Tensor { return x }} }

// activation is an elementwise function, or another function without parameters.
type activation struct {
	name     string
	function func(*Tensor) *Tensor
}

func (a *activation) Forward(x *Tensor) *Tensor { return a.function(x) }
func (*activation) retainsNothing() bool        { return true }

// String returns the layer as Go code; the name of a layer with an argument has its parentheses.
func (a *activation) String() string {
	if strings.HasSuffix(a.name, ")") {
		return a.name
	}
	return a.name + "()"
}

func (a *activation) Layer() any {
	switch a.name {
	case "ReLU":
		return layer.ReLU{}
	case "GlobalAvgPool1D", "GlobalAvgPool2D":
		return layer.Channelwise{Pooled: true}
	}
	if strings.HasPrefix(a.name, "Upsample(") {
		return layer.Channelwise{}
	}
	return layer.Elementwise{}
}

// PerChannel gives [PReLU] a slope for each channel, axis 1 of the input, as num_parameters in PyTorch.
func PerChannel() Option {
	return Option{option.New(func(o *options) { o.perChannel = true }, "PerChannel")}
}

// PReLU returns a layer that computes x for positive x and weight·x for others, where the weight is
// trained and starts at 0.25 (He et al., 2015). There is one weight for all elements, as in PyTorch;
// with [PerChannel] the first input [N, C, …] determines their number C. Weight decay makes it a
// [ReLU]: leave it out with optim.Group.
func PReLU(given ...Option) Module {
	return &prelu{options: options{}.read("PReLU", given, "PerChannel")}
}

type prelu struct {
	lazyState
	options
	weight *Tensor // [1] or [C], nil before the first input
}

func (p *prelu) Forward(x *Tensor) *Tensor {
	n := p.channels(x.Shape())
	if p.weight == nil {
		p.weight = p.parameter(tensor.Full(0.25, n))
	}
	var s scratch
	defer s.release()
	shape := slices.Repeat([]int{1}, x.NDim())
	if p.perChannel {
		shape[1] = n
	}
	slope := s.keep(p.weight.Reshape(shape...))
	if slope.DType() != x.DType() {
		slope = s.keep(slope.Cast(x.DType()))
	}
	positive, zero := s.keep(x.GreaterScalar(0)), s.keep(constant(0, x))
	// The product is 0 for positive x, since Inf·0 in the gradient of the weight would be NaN.
	return tensor.Where(positive, x, s.keep(s.keep(tensor.Where(positive, zero, x)).Mul(slope)))
}

// channels returns the number of weights for an input of a shape.
func (p *prelu) channels(shape []int) int {
	n := 1
	if p.perChannel {
		if len(shape) < 2 || shape[1] < 1 {
			panic(&tensor.ShapeError{Op: "PReLU", Shapes: [][]int{shape}, Hint: "with a slope for each channel, the input must be [N, C, …]"})
		}
		n = shape[1]
	}
	if p.weight != nil && p.weight.Numel() != n {
		panic(&tensor.ShapeError{Op: "PReLU", Shapes: [][]int{shape, p.weight.Shape()}, Hint: fmt.Sprintf("the layer has %d slopes, but the input needs %d", p.weight.Numel(), n)})
	}
	return n
}

// String returns the layer as Go code.
func (p *prelu) String() string { return p.call("PReLU") }

func (p *prelu) slots() []slot {
	shape := 1
	if p.perChannel {
		shape = -1
	}
	return []slot{{name: "weight", at: &p.weight, shape: []int{shape}}}
}

// ReverseGradient returns a layer that returns its input and multiplies the gradient by -scale. Between features and a
// classifier of domains it makes the features learn what the classifier cannot use (Ganin and Lempitsky, Unsupervised
// Domain Adaptation by Backpropagation, 2015). The input must be finite.
func ReverseGradient(scale float64) Module { return reversed{scale} }

type reversed struct{ scale float64 }

func (r reversed) Forward(x *Tensor) *Tensor {
	var s scratch
	defer s.release()
	slope := s.keep(x.MulScalar(-r.scale))
	return s.keep(x.Detach()).Add(s.keep(slope.Sub(s.keep(slope.Detach())))) // the difference is 0, its gradient -scale
}

func (r reversed) String() string     { return fmt.Sprintf("ReverseGradient(%g)", r.scale) }
func (reversed) retainsNothing() bool { return true }
