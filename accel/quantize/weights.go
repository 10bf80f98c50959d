package quantize

import (
	"errors"

	"github.com/quernlab/quern/accel/internal/integer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Weights quantises the weights of linear layers, those of attention among them, and
// no activations: the layers compute with floats, which the weights become when they
// are used. That is faster where few rows wait for many weights, as one token at a time
// does; many rows at once take a little longer. It needs no examples, but a model that has its parameters: one that was
// trained, loaded, or called once. Of the options it takes [Float] alone.
//
// Errors are as those of [Static].
func Weights(model nn.Module, options ...Option) (m *Model, err error) {
	o, err := newOptions(options)
	switch {
	case err != nil:
		return nil, err
	case model == nil:
		return nil, errors.New("quantize: Weights: there is no model")
	}
	if err := onProcessor(); err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	all := products(model)
	if err := choose(all, o.float); err != nil {
		return nil, err
	}
	for _, p := range all {
		switch {
		case p.reason != "":
		case p.Image:
			p.reason = "is a convolution, which does not wait for its weights"
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

// wide is a linear layer of floats with weights of bytes.
func (p *product) wide() substitute.Forward {
	b := p.bytes
	w := &integer.Weights{Out: b.shape[0], In: b.shape[1], Weight: b.weight, Step: b.step}
	var bias *tensor.Tensor
	if p.Bias != nil {
		bias = tensor.New(b.bias, len(b.bias))
	}
	return func(x *tensor.Tensor) *tensor.Tensor {
		y := tensor.ByteLinear(x, w)
		if bias == nil {
			return y
		}
		sum := y.Add(bias)
		y.Release()
		return sum
	}
}
