package nn

import "github.com/quernlab/quern/accel/internal/layer"

// ReLU returns a layer that computes max(x, 0).
func ReLU() Module { return &activation{"ReLU", (*Tensor).ReLU} }

// GELU returns a layer that computes x·Φ(x), where Φ is the cumulative distribution function of
// the normal distribution (Hendrycks and Gimpel, 2016), in the exact form.
func GELU() Module { return &activation{"GELU", (*Tensor).GELU} }

// Tanh returns a layer that computes the hyperbolic tangent.
func Tanh() Module { return &activation{"Tanh", (*Tensor).Tanh} }

// Sigmoid returns a layer that computes 1 / (1 + e⁻ˣ).
func Sigmoid() Module { return &activation{"Sigmoid", (*Tensor).Sigmoid} }

// activation is an elementwise function, or another function without parameters.
type activation struct {
	name     string
	function func(*Tensor) *Tensor
}

func (a *activation) Forward(x *Tensor) *Tensor { return a.function(x) }
func (a *activation) String() string            { return a.name + "()" }
func (*activation) retainsNothing() bool        { return true }

func (a *activation) Layer() any {
	switch a.name {
	case "ReLU":
		return layer.ReLU{}
	case "GlobalAvgPool2D":
		return layer.Channelwise{Pooled: true}
	}
	return layer.Elementwise{}
}
