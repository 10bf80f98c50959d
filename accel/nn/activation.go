package nn

import "github.com/quernlab/quern/accel/internal/layer"

// ReLU is max(x, 0).
func ReLU() Module { return &activation{"ReLU", (*Tensor).ReLU} }

// GELU is x·Φ(x) with the normal distribution's Φ (Hendrycks and Gimpel, 2016),
// the exact form.
func GELU() Module { return &activation{"GELU", (*Tensor).GELU} }

// Tanh returns the hyperbolic tangent.
func Tanh() Module { return &activation{"Tanh", (*Tensor).Tanh} }

// Sigmoid returns 1 / (1 + e⁻ˣ).
func Sigmoid() Module { return &activation{"Sigmoid", (*Tensor).Sigmoid} }

// activation is a function of each element, without parameters.
type activation struct {
	name     string
	function func(*Tensor) *Tensor
}

func (a *activation) Forward(x *Tensor) *Tensor { return a.function(x) }
func (a *activation) String() string            { return a.name + "()" }
func (*activation) private() bool               { return true }

func (a *activation) Layer() any {
	switch a.name {
	case "ReLU":
		return layer.ReLU{}
	case "GlobalAvgPool2D":
		return layer.Channelwise{Pooled: true}
	}
	return layer.Elementwise{}
}
