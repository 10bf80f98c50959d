package quantize

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// quantizable is a layer that can be quantized.
type quantizable struct {
	layer.MatMul
	name   string // of the module in the model
	module nn.Module
	reason string // why it stays float; empty if it is quantized

	sample    *sample
	quantized *quantizedWeights // nil while the layer is float
	sqnr      float64           // signal-to-quantization-noise ratio in decibels; NaN if not measured
	fold      *fold             // the normalization folded into it, or nil

}

// quantizedWeights holds the quantized weights of a layer: w[o, i] ≈ step[o]·weight[o, i].
type quantizedWeights struct {
	shape  []int // of the weight
	weight []int8
	step   []float32
	bias   []float32
	input  integer.Scale // zero for weight-only quantization
}

// quantizables returns the layers of a model that can be quantized, each once.
func quantizables(model nn.Module) []*quantizable {
	var found []*quantizable
	for _, m := range nn.NamedModules(model) {
		if p, ok := layer.Of(m.Module).(layer.MatMul); ok {
			found = append(found, &quantizable{MatMul: p, name: m.Name, module: m.Module, sqnr: nan})
		}
	}
	return found
}

// excludeFloat excludes the layers that the option Float names.
func excludeFloat(all []*quantizable, float []string) error {
	for _, name := range float {
		at := slices.IndexFunc(all, func(p *quantizable) bool { return p.name == name })
		if at < 0 {
			return &UnknownLayerError{name, names(all)}
		}
		all[at].reason = "kept float by the option Float"
	}
	return nil
}

// tensorName returns the name of a tensor of the layer in files and errors.
func (p *quantizable) tensorName(name string) string {
	if p.name == "" {
		return name
	}
	return p.name + "." + name
}

// quantize quantizes the weights, after multiplying those of each output o by factor[o], and
// the bias, which becomes bias·factor + shift. factor and shift are nil if no normalization is
// folded.
func (p *quantizable) quantize(factor, shift []float64) error {
	w := *p.Weight
	values, shape := w.Data(), w.Shape()
	outputs := shape[0]
	depth := len(values) / max(outputs, 1)
	if depth > integer.MaxDepth {
		p.reason = fmt.Sprintf("the sum of %d terms per output could overflow int32", depth)
		return nil
	}
	b := &quantizedWeights{shape: shape, weight: make([]int8, len(values)), step: make([]float32, outputs), bias: make([]float32, outputs)}
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
	p.quantized = b
	return nil
}

// quantizeRow converts values to signed bytes from -127 to 127 and returns their scale.
func quantizeRow(q []int8, w []float32) (step float32) {
	maxAbs := float32(0)
	for _, v := range w {
		maxAbs = max(maxAbs, v, -v)
	}
	if step = maxAbs / 127; step == 0 {
		return 1 // all values are zero or too small to represent
	}
	for i, v := range w {
		q[i] = int8(min(max(roundEven(v/step), -127), 127))
	}
	return step
}
