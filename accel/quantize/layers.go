package quantize

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/integer"
	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// product is a layer that can be quantised, and what is known of it.
type product struct {
	layer.Product
	name   string // of the module
	module nn.Module
	reason string // why it stays float; empty for one that does not

	sample *sample
	bytes  *bytes  // nil while it is float
	sqnr   float64 // decibels; NaN where it was not measured
	fold   *fold   // a normalisation that is part of it, or nil

}

// bytes is the quantised form of a product: w[o, i] ≈ step[o]·weight[o, i].
type bytes struct {
	shape  []int // of the weight
	weight []int8
	step   []float32
	bias   []float32
	input  integer.Scale // unknown for weights alone
}

// products are the layers of a model that multiply, each once.
func products(model nn.Module) []*product {
	var found []*product
	for _, m := range nn.NamedModules(model) {
		if p, ok := layer.Of(m.Module).(layer.Product); ok {
			found = append(found, &product{Product: p, name: m.Name, module: m.Module, sqnr: nan})
		}
	}
	return found
}

// choose marks the layers that the user wants float.
func choose(all []*product, float []string) error {
	for _, name := range float {
		at := slices.IndexFunc(all, func(p *product) bool { return p.name == name })
		if at < 0 {
			e := &UnknownLayerError{Name: name}
			for _, p := range all {
				e.Known = append(e.Known, p.name)
			}
			return e
		}
		all[at].reason = "left so by Float"
	}
	return nil
}

// tensorName is the name of a tensor of the layer in files and errors.
func (p *product) tensorName(name string) string {
	if p.name == "" {
		return name
	}
	return p.name + "." + name
}

// quantize makes bytes of the weights, of each output o multiplied by factor[o] before,
// and of the bias, which becomes bias·factor + shift. Both are nil without a
// normalisation to fold.
func (p *product) quantize(factor, shift []float64) error {
	w := *p.Weight
	values, shape := w.Data(), w.Shape()
	outputs := shape[0]
	depth := len(values) / max(outputs, 1)
	if depth > integer.MostDepth {
		p.reason = fmt.Sprintf("%d products for each output could exceed 32 bits", depth)
		return nil
	}
	b := &bytes{shape: shape, weight: make([]int8, len(values)), step: make([]float32, outputs), bias: make([]float32, outputs)}
	if p.Bias != nil && *p.Bias != nil {
		copy(b.bias, (*p.Bias).Data())
	}
	for o := range outputs {
		row := slices.Clone(values[o*depth:][:depth])
		if factor != nil {
			for i := range row {
				row[i] = float32(float64(row[i]) * factor[o])
			}
			b.bias[o] = float32(float64(b.bias[o])*factor[o] + shift[o])
		}
		if at := newSample().add(row); at >= 0 {
			return &LayerError{p.name, &tensor.NonFiniteError{What: p.Names[0], Element: o*depth + at, Value: float64(row[at])}}
		}
		b.step[o] = quantizeRow(b.weight[o*depth:][:depth], row)
	}
	if at := newSample().add(b.bias); at >= 0 {
		return &LayerError{p.name, &tensor.NonFiniteError{What: p.Names[1], Element: at, Value: float64(b.bias[at])}}
	}
	p.bytes = b
	return nil
}

// quantizeRow makes signed bytes from -127 to 127 of numbers and returns their step.
func quantizeRow(q []int8, w []float32) (step float32) {
	most := float32(0)
	for _, v := range w {
		most = max(most, v, -v)
	}
	if step = most / 127; step == 0 {
		return 1 // all of them are zeros, or so small that they are
	}
	for i, v := range w {
		q[i] = int8(min(max(roundEven(v/step), -127), 127))
	}
	return step
}
