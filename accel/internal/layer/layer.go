// Package layer contains the descriptions by which layers of package nn describe themselves
// to packages that change models: quantize and prune.
package layer

import "github.com/quernlab/quern/accel/tensor"

// Described is a layer that describes itself by one of the types of this package.
type Described interface{ Layer() any }

// Of returns the description of a module; nil if it has none.
func Of(m any) any {
	if d, ok := m.(Described); ok {
		return d.Layer()
	}
	return nil
}

// Product is a layer that multiplies by a weight: a linear layer, or a convolution.
type Product struct {
	// Names are those of weight and bias in the layer.
	Names        [2]string
	Weight, Bias **tensor.Tensor // Bias is nil for a layer without
	Image        bool            // a convolution of images [N, C, H, W]
	Window       tensor.Window
	// SetOut tells the layer that it has another number of outputs; nil where it
	// cannot have.
	SetOut func(n int)
	// SetGroups tells a convolution of another number of groups.
	SetGroups func(n int)
}

// Forward computes the layer.
func (p Product) Forward(x *tensor.Tensor) *tensor.Tensor {
	var bias *tensor.Tensor
	if p.Bias != nil {
		bias = *p.Bias
	}
	if p.Image {
		return tensor.Conv2D(x, *p.Weight, bias, p.Window)
	}
	return tensor.Linear(x, *p.Weight, bias)
}

// Normalization is a batch normalisation in evaluation:
// (x - Mean)/√(Variance + Epsilon)·Weight + Bias for each channel.
type Normalization struct {
	Weight, Bias, Mean, Variance **tensor.Tensor
	Epsilon                      float64
}

// ReLU is max(x, 0).
type ReLU struct{}

// Elementwise is another function of each element.
type Elementwise struct{}

// MaxPool is the largest number of each window.
type MaxPool struct {
	Size   int
	Window tensor.Window
}

// Channelwise is another layer that computes each channel of images on its own and
// keeps their number.
type Channelwise struct{ Pooled bool } // Pooled: images become one number a channel

// Flatten joins all dimensions after the first.
type Flatten struct{}

// Dropout returns its input when a model is evaluated.
type Dropout struct{}

// Synchronised is a layer that can measure over all ranks of a training together.
type Synchronised interface {
	// OverRanks reports whether it does where there are several.
	OverRanks() bool
	// Synchronise has it add up what it measures through this from now on, or measure
	// alone with nil.
	Synchronise(through tensor.Across)
}

// Shortcut is x + f(x), where f is a chain.
type Shortcut struct{ Chain any }
