package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/option"
	"github.com/quernlab/quern/accel/tensor"
)

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
		p.weight = tensor.Full(0.25, n)
		p.weight.SetRequiresGrad(!p.frozen)
	}
	var s scratch
	defer s.release()
	slope, shape := p.weight, make([]int, max(x.NDim(), 1))
	for i := range shape {
		shape[i] = 1
	}
	if p.perChannel {
		shape[1] = n
	}
	if x.NDim() == 0 {
		shape = nil
	}
	slope = s.keep(slope.Reshape(shape...))
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
func (p *prelu) String() string     { return p.call("PReLU") }
func (*prelu) retainsNothing() bool { return true }

func (p *prelu) slots() []slot {
	shape := 1
	if p.perChannel {
		shape = -1
	}
	return []slot{{name: "weight", at: &p.weight, shape: []int{shape}}}
}
