package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// Flatten returns a layer that merges all dimensions after the first: [N, 1, 28, 28] becomes
// [N, 784].
func Flatten() Module { return &flatten{} }

type flatten struct{}

func (*flatten) Forward(x *Tensor) *Tensor {
	if x.NDim() == 2 {
		return x
	}
	return x.Flatten(1)
}

func (*flatten) String() string       { return "Flatten()" }
func (*flatten) retainsNothing() bool { return true }
func (*flatten) Layer() any           { return layer.Flatten{} }

// Unflatten returns a layer that divides the dimension after the first into several, the inverse of [Flatten]: with
// Unflatten(1, 28, 28), [N, 784] becomes [N, 1, 28, 28]. It is Keras' Reshape, and PyTorch's Unflatten(1, …). Inputs
// have two dimensions. It panics with a *tensor.ShapeError for a size below 1.
func Unflatten(sizes ...int) Module {
	for _, n := range sizes {
		requireArgument(n > 0, "Unflatten", fmt.Sprintf("the sizes %v must be positive", sizes))
	}
	requireArgument(len(sizes) > 0, "Unflatten", "it needs at least one size")
	return &unflatten{slices.Clone(sizes)}
}

type unflatten struct{ sizes []int }

func (u *unflatten) Forward(x *Tensor) *Tensor {
	if shape := x.Shape(); len(shape) != 2 || shape[1] != product(u.sizes) {
		panic(&tensor.ShapeError{Op: "Unflatten", Shapes: [][]int{shape}, Hint: fmt.Sprintf("%v takes [N %d]", u, product(u.sizes))})
	}
	return x.Reshape(append([]int{x.Size(0)}, u.sizes...)...)
}

func (u *unflatten) String() string {
	return "Unflatten(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(u.sizes), " ", ", "), "[]") + ")"
}
func (*unflatten) retainsNothing() bool { return true }
