package nn

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/layer"
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
