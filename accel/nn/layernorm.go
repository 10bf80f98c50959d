package nn

import "github.com/quernlab/quern/accel/tensor"

// LayerNorm gives each example mean 0 and variance 1 over the last dimension,
// and then a scale and a shift that are trained (Ba et al., 2016):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// The first input tells the size of weight and bias, which start at 1 and 0.
func LayerNorm() Module { return &layerNorm{} }

type layerNorm struct {
	untouched
	weight, bias *Tensor // [size of the last dimension], nil before the first input
}

func (n *layerNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) == 0 {
		panic(&tensor.ShapeError{Op: "LayerNorm", Shapes: [][]int{shape}, Hint: "an input of at least one dimension is needed"})
	}
	last := len(shape) - 1
	if n.weight == nil {
		n.weight, n.bias = tensor.Ones(shape[last]), tensor.Zeros(shape[last])
		n.weight.SetRequiresGrad(!n.frozen)
		n.bias.SetRequiresGrad(!n.frozen)
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
	y := keep(keep(centred.Div(deviation)).Mul(n.weight)).Add(n.bias)
	for _, t := range made {
		t.Release()
	}
	return y
}

func (*layerNorm) String() string { return "LayerNorm()" }
func (*layerNorm) private() bool  { return true }
