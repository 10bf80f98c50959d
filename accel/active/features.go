package active

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Features computes the features of examples, normally the input of a model's last layer: it
// maps inputs [N, …] to one row of values each.
type Features = func(x *tensor.Tensor) *tensor.Tensor

// optionalFeatures returns the optional argument of a constructor.
func optionalFeatures(given []Features) Features {
	if len(given) > 0 {
		return given[0]
	}
	return nil
}

// errNoFeatures is returned if the last layer of a model is unknown.
var errNoFeatures = errors.New("active: the model is not an nn.Sequential with a layer that has parameters: pass the strategy a function that computes the features")

// features returns the features of the candidates and of the labeled examples, computed by the
// function, or by all layers of an nn.Sequential before the last one with parameters. Without a
// model they are the values of the examples.
func (c *Candidates) features(ctx context.Context, given Features) (candidates, labeled [][]float32, err error) {
	f := given
	if f == nil {
		if f, err = c.belowLast(ctx); err != nil {
			return nil, nil, err
		}
	}
	if c.model != nil {
		defer nn.Eval(c.model)()
	}
	if candidates, err = apply(ctx, c.Dataset(), f); err != nil {
		return nil, nil, err
	}
	if labeled, err = apply(ctx, c.Labeled(), f); err != nil {
		return nil, nil, err
	}
	for i, row := range candidates {
		if !finite(row) {
			return nil, nil, &NotFiniteError{What: "a feature", Example: c.index[i]}
		}
	}
	for k, row := range labeled {
		if !finite(row) {
			return nil, nil, &NotFiniteError{What: "a feature", Example: c.pool.order[k]}
		}
	}
	return candidates, labeled, nil
}

func finite(row []float32) bool {
	for _, v := range row {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// belowLast returns the part of the model before its last layer.
func (c *Candidates) belowLast(ctx context.Context) (Features, error) {
	if c.model == nil {
		return func(x *tensor.Tensor) *tensor.Tensor { return x }, nil
	}
	chain, ok := c.model.(*nn.SequentialLayer)
	if !ok {
		return nil, errNoFeatures
	}
	if len(nn.Parameters(chain)) == 0 { // layers create their parameters at their first input
		if _, err := apply(ctx, c.Dataset().First(1), chain.Forward); err != nil {
			return nil, err
		}
	}
	below, ok := before(chain)
	if !ok {
		return nil, errNoFeatures
	}
	return nn.Sequential(below...).Forward, nil
}

// before returns the layers of a chain before its last one with parameters.
func before(chain *nn.SequentialLayer) (layers []nn.Module, ok bool) {
	layers = chain.Layers()
	for k := len(layers) - 1; k >= 0; k-- {
		if len(nn.Parameters(layers[k])) == 0 {
			continue
		}
		if inner, chained := layers[k].(*nn.SequentialLayer); chained {
			below, ok := before(inner)
			return append(layers[:k:k], below...), ok
		}
		return layers[:k], true
	}
	return nil, false
}
