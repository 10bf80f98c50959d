package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
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

// Pack combines several tensors [N, …] into one, [N, total], with the values of each example one
// after the other. A model with several outputs returns them packed; the loss function divides
// them with [Unpack]. The tensors must have the same number of examples and element type.
func Pack(tensors ...*Tensor) *Tensor {
	requireArgument(len(tensors) > 0, "Pack", "there are no tensors")
	flat := make([]*Tensor, len(tensors))
	for i, t := range tensors {
		if t.NDim() == 0 || t.Size(0) != tensors[0].Size(0) {
			panic(&tensor.ShapeError{Op: "Pack", Shapes: [][]int{tensors[0].Shape(), t.Shape()}, Hint: "the tensors must have the same number of examples in the first dimension"})
		}
		flat[i] = t.Reshape(t.Size(0), product(t.Shape()[1:]))
	}
	return tensor.Concat(1, flat...)
}

// Unpack divides a tensor that [Pack] or data.Inputs has combined: x [N, total] into tensors
// [N, shape…], one for each shape of an example.
func Unpack(x *Tensor, shapes ...[]int) []*Tensor {
	total := 0
	for _, s := range shapes {
		total += product(s)
	}
	if x.NDim() != 2 || x.Size(1) != total {
		panic(&tensor.ShapeError{Op: "Unpack", Shapes: [][]int{x.Shape()}, Hint: fmt.Sprintf("examples of the shapes %v have %d values together, so x must be [N %d]", shapes, total, total)})
	}
	parts := make([]*Tensor, len(shapes))
	at := 0
	for i, s := range shapes {
		part := x.Slice(1, at, at+product(s))
		at += product(s)
		parts[i] = part.Reshape(append([]int{x.Size(0)}, s...)...)
	}
	return parts
}

// Bilinear makes [Upsample] interpolate images [N, C, H, W] linearly instead of repeating pixels.
func Bilinear() Option {
	return Option{option.New(func(o *options) { o.bilinear = true }, "Bilinear")}
}

// Upsample returns a layer that multiplies the size of each dimension after the second by scale:
// [N, C, H, W] becomes [N, C, scale·H, scale·W]. It repeats the nearest element, as PyTorch's
// Upsample does by default; with [Bilinear] it interpolates as PyTorch does with
// align_corners=False.
func Upsample(scale int, given ...Option) Module {
	o, compute := options{}.read("Upsample", given, "Bilinear"), tensor.UpsampleNearest
	if o.bilinear {
		compute = tensor.UpsampleBilinear
	}
	return &activation{o.call("Upsample", scale), func(x *Tensor) *Tensor { return compute(x, scale) }}
}
