package nn

import "github.com/quernlab/quern/accel/tensor"

// Normalization gives each example mean 0 and variance 1; [LayerNorm] makes
// it. Scale and Shift are nil until the first input has told their size.
type Normalization struct {
	Scale *Tensor // [size of the last dimension], starts at 1
	Shift *Tensor // likewise, starts at 0

	frozen bool // before there are parameters: they will need no gradient
}

// LayerNorm is (x - mean) / √(variance + 1e-5) · scale + shift over the last
// dimension (Ba et al., 2016).
func LayerNorm() *Normalization { return &Normalization{} }

// Forward normalises the last dimension of x and keeps its shape.
func (n *Normalization) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) == 0 {
		panic(&tensor.ShapeError{Op: "LayerNorm", Shapes: [][]int{shape}, Hint: "an input of at least one dimension is needed"})
	}
	last := len(shape) - 1
	if n.Scale == nil {
		n.Scale, n.Shift = tensor.Ones(shape[last]), tensor.Zeros(shape[last])
		n.Scale.SetRequiresGrad(!n.frozen)
		n.Shift.SetRequiresGrad(!n.frozen)
	}
	var made []*Tensor // on the way, and of no use to anybody else
	keep := func(t *Tensor) *Tensor {
		made = append(made, t)
		return t
	}
	column := append(append([]int{}, shape[:last]...), 1)
	mean := keep(keep(x.Mean(last)).Reshape(column...))
	centred := keep(x.Sub(mean))
	variance := keep(keep(keep(centred.Square()).Mean(last)).Reshape(column...))
	deviation := keep(keep(variance.AddScalar(1e-5)).Sqrt())
	y := keep(keep(centred.Div(deviation)).Mul(n.Scale)).Add(n.Shift)
	for _, t := range made {
		t.Release()
	}
	return y
}

func (*Normalization) private() bool { return true }

// String is the module as it is written in Go.
func (n *Normalization) String() string { return "LayerNorm()" }
