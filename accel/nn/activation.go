package nn

// Activation is a function of each element, without parameters.
type Activation struct {
	name     string
	function func(*Tensor) *Tensor
}

func (*Activation) private() bool { return true }

// Forward applies the function.
func (a *Activation) Forward(x *Tensor) *Tensor { return a.function(x) }

// String is the activation as it is written in Go.
func (a *Activation) String() string { return a.name + "()" }

// ReLU is max(x, 0).
func ReLU() *Activation { return &Activation{"ReLU", (*Tensor).ReLU} }

// GELU is x·Φ(x) with the normal distribution's Φ (Hendrycks and Gimpel, 2016),
// the exact form.
func GELU() *Activation { return &Activation{"GELU", (*Tensor).GELU} }

// Tanh is the hyperbolic tangent.
func Tanh() *Activation { return &Activation{"Tanh", (*Tensor).Tanh} }

// Sigmoid is 1 / (1 + e⁻ˣ).
func Sigmoid() *Activation { return &Activation{"Sigmoid", (*Tensor).Sigmoid} }
