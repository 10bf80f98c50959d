package quantize

import (
	"errors"

	"github.com/quernlab/quern/accel/internal/integer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Weights quantizes the weights of linear layers, including those of attention, but no
// activations: the layers compute in floats, to which the weights are converted when they are
// used. That is faster when few rows need many weights, as in generating one token at a time;
// many rows at once take slightly longer. It needs no examples, but the parameters must exist:
// train or load the model, or call it once. The only supported option is [Float].
//
// Errors are those of [Static].
func Weights(model nn.Module, options ...Option) (m *Model, err error) {
	o, err := newOptions(options)
	switch {
	case err != nil:
		return nil, err
	case model == nil:
		return nil, errors.New("quantize: Weights: model is nil")
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

// wide returns a linear layer with float computation and 8-bit weights.
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
