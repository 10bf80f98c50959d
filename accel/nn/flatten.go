package nn

import "github.com/quernlab/quern/accel/internal/layer"

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
