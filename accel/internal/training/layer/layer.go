// Package layer declares the types by which layers of package nn describe themselves to
// packages that change models, such as quantize and prune.
package layer

import (
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// Described is a layer that describes itself by one of the types of this package.
type Described interface{ Layer() any }

// Of returns the description of a module, or nil if it has none.
func Of(m any) any {
	if d, ok := m.(Described); ok {
		return d.Layer()
	}
	return nil
}

// MatMul is a layer that multiplies its input by a weight: a linear layer or a
// convolution.
type MatMul struct {
	Names        [2]string       // names of the weight and the bias in the layer
	Weight, Bias **tensor.Tensor // Bias is nil for a layer without a bias
	Image        bool            // a convolution of images [N, C, H, W]
	Window       tensor.Window
	// SetOut sets the number of output features or channels. It is nil if that number
	// cannot change.
	SetOut func(n int)
	// SetGroups sets the number of groups of a convolution.
	SetGroups func(n int)
}

// Forward computes the layer.
func (p MatMul) Forward(x *tensor.Tensor) *tensor.Tensor {
	var bias *tensor.Tensor
	if p.Bias != nil {
		bias = *p.Bias
	}
	if p.Image {
		return tensor.Conv2D(x, *p.Weight, bias, p.Window)
	}
	return tensor.Linear(x, *p.Weight, bias)
}

// Normalization is a batch normalization in evaluation mode:
// (x - Mean)/√(Variance + Epsilon)·Weight + Bias for each channel.
type Normalization struct {
	Weight, Bias, Mean, Variance **tensor.Tensor
	Epsilon                      float64
}

// ReLU is max(x, 0).
type ReLU struct{}

// Elementwise is any other elementwise function.
type Elementwise struct{}

// MaxPool is the maximum of each window.
type MaxPool struct {
	Size   int
	Window tensor.Window
}

// Channelwise is any other layer that computes each channel of an image separately and
// does not change the number of channels.
type Channelwise struct {
	Pooled bool // the output has one element for each channel
}

// Flatten joins all dimensions after the first.
type Flatten struct{}

// Dropout returns its input in evaluation mode.
type Dropout struct{}

// Synchronized is a layer that can compute batch statistics over all ranks of a training,
// as a synchronized batch normalization does.
type Synchronized interface {
	// OverRanks reports whether the layer should do so if there are several ranks.
	OverRanks() bool
	// Synchronize makes the layer sum its statistics over the ranks by through; nil makes
	// it use its own batch only.
	Synchronize(through tensors.ProcessGroup[*tensor.Tensor])
}

// Shortcut is x + f(x), where f is a chain.
type Shortcut struct{ Chain any }
