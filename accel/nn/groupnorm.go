package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// GroupNorm returns a layer that splits the channels of [N, C, …] into groups, normalizes each
// group of each example to mean 0 and variance 1, and then applies a trained scale and shift to
// each channel (Wu and He, 2018):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// Unlike [BatchNorm] it does not depend on the other examples. The first input determines C, which
// must be a multiple of groups; weight and bias start at 1 and 0. It is PyTorch's GroupNorm.
func GroupNorm(groups int) Module { return &groupNorm{groups: groups} }

type groupNorm struct {
	lazyState
	weight, bias *Tensor // [C], nil before the first input
	groups       int
}

func (n *groupNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) < 2 || n.groups < 1 || shape[1]%n.groups != 0 {
		panic(&tensor.ShapeError{Op: "GroupNorm", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the input must be [N, C, …] with a number of channels that is a multiple of the %d groups", n.groups)})
	}
	if n.weight == nil {
		n.weight, n.bias = tensor.Ones(shape[1]), tensor.Zeros(shape[1])
		n.weight.SetRequiresGrad(!n.frozen)
		n.bias.SetRequiresGrad(!n.frozen)
	}
	var s scratch
	defer s.release()
	perChannel := make([]int, len(shape)-1) // [C, 1, …]
	for i := range perChannel {
		perChannel[i] = 1
	}
	perChannel[0] = n.weight.Size(0)
	normalized := s.keep(normalizeGroups(&s, x, n.groups))
	return s.keep(normalized.Mul(s.keep(n.weight.Reshape(perChannel...)))).Add(s.keep(n.bias.Reshape(perChannel...)))
}

// normalizeGroups normalizes each group of channels of each example.
func normalizeGroups(s *scratch, x *Tensor, groups int) *Tensor {
	shape := x.Shape()
	grouped := s.keep(x.Reshape(append([]int{shape[0], groups, shape[1] / groups}, shape[2:]...)...))
	return s.keep(tensor.LayerNorm(grouped, nil, nil, len(shape)-1, epsilon)).Reshape(shape...)
}

func (n *groupNorm) String() string     { return fmt.Sprintf("GroupNorm(%d)", n.groups) }
func (*groupNorm) retainsNothing() bool { return true }

func (n *groupNorm) slots() []slot {
	return []slot{{name: "weight", at: &n.weight, shape: []int{-1}}, {name: "bias", at: &n.bias, shape: []int{-1}}}
}

// InstanceNorm returns a layer that normalizes each channel of each example of [N, C, …] to mean 0
// and variance 1 (Ulyanov et al., 2016): y = (x - mean) / √(variance + 1e-5). Like PyTorch's
// InstanceNorm it has no parameters by default; a [GroupNorm] with as many groups as channels has a
// scale and a shift.
func InstanceNorm() Module { return &instanceNorm{} }

type instanceNorm struct{}

func (*instanceNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) < 3 || shape[1] < 1 || product(shape[2:]) < 2 {
		panic(&tensor.ShapeError{Op: "InstanceNorm", Shapes: [][]int{shape}, Hint: "the input must be [N, C, …] with at least two elements in each channel"})
	}
	var s scratch
	defer s.release()
	return normalizeGroups(&s, x, shape[1])
}

func (*instanceNorm) String() string       { return "InstanceNorm()" }
func (*instanceNorm) retainsNothing() bool { return true }
