package quantize

import (
	"errors"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// WeightOnly quantizes the weights of linear layers, including those of attention, but not the
// activations: the weights are converted to floats when they are used. This is faster if few rows
// use many weights, as in generating one token at a time, and slightly slower for many rows at
// once. It needs no examples, but the parameters must exist: train or load the model, or call it
// once. The only supported option is [Float].
//
// Errors are those of [Static].
func WeightOnly(model nn.Module, options ...Option) (m *Model, err error) {
	o, err := newOptions("WeightOnly", options, "Float")
	switch {
	case err != nil:
		return nil, err
	case model == nil:
		return nil, errors.New("quantize: WeightOnly: model is nil")
	}
	if err := requireCPU(); err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	all := quantizables(model)
	if err := excludeFloat(all, o.float); err != nil {
		return nil, err
	}
	for _, p := range all {
		switch {
		case p.reason != "":
		case p.Image:
			p.reason = "is a convolution, whose speed is not limited by reading weights"
		case *p.Weight == nil:
			return nil, &LayerError{p.name, errors.New("it has no weight yet: call the model once")}
		default:
			if err := p.quantize(nil, nil); err != nil {
				return nil, err
			}
		}
	}
	return newModel(model, weights, all)
}

// floatForward returns the forward function of a linear layer with 8-bit weights and float computation.
func (p *quantizable) floatForward() layer.Forward {
	b := p.quantized
	w := &integer.Weights{Out: b.shape[0], In: b.shape[1], Weight: b.weight, Step: b.step}
	var bias *tensor.Tensor
	if p.Bias != nil {
		bias = tensor.New(b.bias, len(b.bias))
	}
	return func(x *tensor.Tensor) *tensor.Tensor {
		y := tensors.Int8Linear(x, w)
		if bias == nil {
			return y
		}
		sum := y.Add(bias)
		y.Release()
		return sum
	}
}
