package quantize

import (
	"context"
	"errors"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Static quantizes a trained model. It runs examples of a data set through the model to find
// the ranges of the layers' inputs; examples of the training set are best.
//
// It returns [ErrNoExamples] without examples, a [*LayerError] that names the layer if a weight
// or an activation is not finite, an [*UnknownLayerError] if [Float] names no layer, a
// [*DeviceError] on a device other than the CPU, and errors of accel.Predict if the model
// cannot process the examples.
func Static(ctx context.Context, model nn.Module, calibration *data.Dataset, options ...Option) (m *Model, err error) {
	if err := interrupt.RequireContext(ctx, "quantize: Static"); err != nil {
		return nil, err
	}
	o, err := newOptions("Static", options, "MinMax", "Percentile", "MSE", "Examples", "Float")
	switch {
	case err != nil:
		return nil, err
	case model == nil:
		return nil, errors.New("quantize: Static: model is nil")
	case calibration == nil || calibration.Len() == 0:
		return nil, ErrNoExamples
	}
	if err := requireCPU(); err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	first, err := firstExample(ctx, calibration)
	if err != nil {
		return nil, err
	}
	evalFloat(model, first) // initializes missing parameters
	all := quantizables(model)
	if err := excludeFloat(all, o.float); err != nil {
		return nil, err
	}
	findFolds(model, first, all)
	for _, p := range all {
		if p.reason != "" || p.fold != nil && *p.fold.Weight == nil { // the normalization is never called
			p.fold = nil
		}
		if p.reason != "" {
			continue
		}
		p.sample = newSample()
	}
	err = observeInputs(ctx, model, calibration, o.examples, all, func(p *quantizable, x *tensor.Tensor) error {
		if at := p.sample.add(x.Data()); at >= 0 {
			return &LayerError{p.name, &tensor.NonFiniteError{What: "its input", Element: at, Value: x.Flatten(0).Float64s()[at]}}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.reason == "" && p.sample.seen == 0 {
			p.reason = "was not called during calibration"
		}
		if p.reason != "" {
			continue
		}
		var factor, shift []float64
		if p.fold != nil {
			factor, shift = folded(p.fold.Normalization)
		}
		if err := p.quantize(factor, shift); err != nil {
			return nil, err
		}
		if p.quantized != nil {
			p.quantized.input = p.sample.scale(o.rangeMethod)
		}
		p.sample = nil
	}
	m, err = newModel(model, static, all)
	if err != nil {
		return nil, err
	}
	return m, measureErrors(ctx, model, calibration, all)
}

// firstExample returns the first example of a data set.
func firstExample(ctx context.Context, set *data.Dataset) (*tensor.Tensor, error) {
	it := set.Batches(1, data.Context(ctx), data.Workers(0))
	if !it.Next() {
		return nil, errors.Join(it.Err(), ctx.Err())
	}
	return it.Batch().X, nil
}

// evalFloat runs the model unchanged in evaluation mode.
func evalFloat(model nn.Module, x *tensor.Tensor) (y *tensor.Tensor) {
	tensor.NoGrad(func() {
		layer.Substitute(layer.Substitutes{}, func() { y = model.Forward(x) })
		tensor.Flush()
	})
	return y
}

// calibrationBatch is the batch size of the calibration.
const calibrationBatch = 64

// observeInputs runs examples from all parts of a data set through the float model and records the
// input of each layer.
func observeInputs(ctx context.Context, model nn.Module, set *data.Dataset, examples int, all []*quantizable, look func(p *quantizable, x *tensor.Tensor) error) (err error) {
	table := layer.Substitutes{}
	var found error
	for _, p := range all {
		if p.reason != "" {
			continue
		}
		table[p.Weight] = func(x *tensor.Tensor) *tensor.Tensor {
			if err := look(p, x); err != nil && found == nil {
				found = err
			}
			return p.Forward(x)
		}
	}
	set = set.Shuffled(1).First(examples)
	meter, ctx := display.Measure(ctx, "examples", float64(set.Len()))
	defer meter.End()
	it := set.Batches(calibrationBatch, data.Context(ctx))
	done := 0
	for it.Next() && found == nil {
		tensor.NoGrad(func() {
			it.Batch().WithLengths(func() {
				layer.Substitute(table, func() { model.Forward(it.Batch().X) })
			})
			tensor.Flush()
		})
		done += it.Batch().Len()
		meter.Set(float64(done), "")
	}
	if err := errors.Join(it.Err(), ctx.Err()); err != nil {
		return err
	}
	return found
}

// measureErrors compares, for some examples, the output of each layer in floats and in 8-bit
// integers for the same input.
func measureErrors(ctx context.Context, model nn.Module, set *data.Dataset, all []*quantizable) error {
	type sums struct{ signal, noise float64 }
	of := map[*quantizable]*sums{}
	var quantizedLayers []*quantizable
	for _, p := range all {
		if p.quantized != nil {
			of[p] = &sums{}
			quantizedLayers = append(quantizedLayers, p)
		}
	}
	err := observeInputs(ctx, model, set, calibrationBatch, quantizedLayers, func(p *quantizable, x *tensor.Tensor) error {
		want, got := p.normalized(x).Float64s(), network(p)(x).Float64s()
		s := of[p]
		for i, v := range want {
			s.signal += v * v
			s.noise += (v - got[i]) * (v - got[i])
		}
		return nil
	})
	for p, s := range of {
		p.sqnr = 10 * math.Log10(s.signal/s.noise)
	}
	return err
}

// normalized returns the output of the layer in floats, including the normalization that is
// folded into it.
func (p *quantizable) normalized(x *tensor.Tensor) *tensor.Tensor {
	y := p.Forward(x)
	if p.fold == nil {
		return y
	}
	n := p.fold
	return tensor.BatchNorm(y, *n.Weight, *n.Bias, *n.Mean, *n.Variance, 0.1, n.Epsilon, false)
}

func requireCPU() error {
	if d := tensors.Device(); d != "cpu" {
		return &DeviceError{d}
	}
	return nil
}
