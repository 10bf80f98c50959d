package explain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// Quantity is a kind of tensors of a training step.
type Quantity string

// The quantities.
const (
	Weights         Quantity = "weights"
	Outputs         Quantity = "outputs"
	WeightGradients Quantity = "gradients of weights"
	OutputGradients Quantity = "gradients of outputs"
)

// Range returns which numbers of a model become 0 or overflow in each floating-point type: of the weights and outputs
// of each layer, and of their gradients. It runs one step in float32, without an update, and rounds each element.
// Matrix multiplications add up in float32 in all types, so sums within a layer do not overflow.
//
// The examples are one batch, at most 512 of the data set. The loss is their mean, so gradients are the smaller the
// larger the batch is: pass train.First(64) for a training with batches of 64. loss is as in [GradientFlow]. The model
// is in evaluation mode: train it first if it has BatchNorm, whose statistics are unknown before.
//
// Layers are those of an nn.Sequential, at any depth; a model of another type is one layer. A value that is NaN or
// infinite in float32 is an error that wraps a *tensor.NonFiniteError.
func Range(ctx context.Context, model nn.Module, set *data.Dataset, loss nn.Loss) (t *RangeTable, err error) {
	const call = "Range"
	if err := check(call, model, set); err != nil {
		return nil, err
	}
	p := &probes{}
	forward := func(x *tensor.Tensor) *tensor.Tensor { return p.model(model, x) }
	err = backward(call, model, set, loss, forward, func(_ []nn.Parameter, examples int, loss float64) error {
		measured := &RangeTable{Dataset: set.Name(), Examples: examples, Loss: loss, LossScale: optim.NewGradScaler().LossScale()}
		if err := measured.measure(ctx, p.layers); err != nil {
			return fmt.Errorf("explain: %s: %w", call, err)
		}
		t = measured
		return nil
	})
	return t, err
}

// probes runs a model layer by layer and keeps what each has computed.
type probes struct{ layers []probed }

// probed is a layer that was run.
type probed struct {
	name       string
	parameters []nn.Parameter
	output     *tensor.Tensor
	probe      *tensor.Tensor // zeros added to the output: their gradient is that of the output; nil if it has none
}

// model runs a model on x.
func (p *probes) model(m nn.Module, x *tensor.Tensor) *tensor.Tensor {
	p.layers = append(p.layers, probed{name: "input", output: x})
	if chain, ok := m.(*nn.SequentialLayer); ok {
		return p.chain("", chain, x)
	}
	return p.layer("", m, m.Forward, x)
}

// chain runs the layers of a chain and of the chains in it. path is the index of the chain with a dot at its end.
func (p *probes) chain(path string, chain *nn.SequentialLayer, x *tensor.Tensor) *tensor.Tensor {
	for i, m := range chain.Layers() {
		number := path + fmt.Sprint(i)
		if inner, ok := m.(*nn.SequentialLayer); ok {
			x = p.chain(number+".", inner, x)
			continue
		}
		if s, ok := layer.Of(m).(layer.Shortcut); ok {
			if inner, ok := s.Chain.(*nn.SequentialLayer); ok {
				y := p.chain(number+".", inner, x)
				x = p.layer(number, nil, x.Add, y)
				continue
			}
		}
		x = p.layer(number, m, nn.Sequential(m).Forward, x)
	}
	return x
}

// layer runs one layer; without a module it is the sum at the end of an nn.Residual.
func (p *probes) layer(path string, m nn.Module, forward func(*tensor.Tensor) *tensor.Tensor, x *tensor.Tensor) *tensor.Tensor {
	l := probed{name: path + " Residual", output: at(path, func() *tensor.Tensor { return forward(x) })}
	if m != nil { // its parameters exist now
		l.name, l.parameters = strings.TrimSpace(path+" "+nameOf(m)), nn.NamedParameters(m)
	}
	y := l.output
	if y.DType().IsFloat() && y.RequiresGrad() {
		l.probe = tensor.Parameter(tensor.Zeros(y.Shape()...).Cast(y.DType()))
		y = y.Add(l.probe)
	}
	p.layers = append(p.layers, l)
	return y
}

// at runs the layer with an index of the model, which an error names.
func at(path string, forward func() *tensor.Tensor) (y *tensor.Tensor) {
	var err error
	func() {
		defer nn.Catch(&err)
		y = forward()
	}()
	if wrong := (*nn.LayerError)(nil); errors.As(err, &wrong) && path != "" {
		_, inner, _ := strings.Cut(wrong.Path, ".") // of the layer as the only one of a chain
		panic(&nn.LayerError{Path: strings.TrimSuffix(path+"."+inner, "."), Layer: wrong.Layer, Err: wrong.Err})
	}
	if err != nil {
		panic(err)
	}
	return y
}

// nameOf returns a module as Go code, or its type.
func nameOf(m nn.Module) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", m), "*"), "main.")
}

// measure adds the rows of layers that were run.
func (t *RangeTable) measure(ctx context.Context, layers []probed) error {
	for _, l := range layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		var weights, gradients []*tensor.Tensor
		for _, p := range l.parameters {
			if weights = append(weights, p.Tensor); p.Grad() != nil {
				gradients = append(gradients, p.Grad())
			}
		}
		of := map[Quantity][]*tensor.Tensor{Weights: weights, WeightGradients: gradients}
		if l.output.DType().IsFloat() {
			of[Outputs] = []*tensor.Tensor{l.output}
		}
		if l.probe != nil && l.probe.Grad() != nil {
			of[OutputGradients] = []*tensor.Tensor{l.probe.Grad()}
		}
		for _, q := range []Quantity{Weights, Outputs, WeightGradients, OutputGradients} {
			if len(of[q]) == 0 {
				continue
			}
			row, err := t.row(l.name, q, of[q])
			if err != nil {
				return err
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return nil
}

// row measures the tensors of a layer.
func (t *RangeTable) row(name string, q Quantity, tensors []*tensor.Tensor) (LayerRange, error) {
	r := LayerRange{Layer: name, Of: q}
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensortype.Float8E4M3, tensortype.Float8E5M2} {
		r.Lost = append(r.Lost, Lost{DType: d, Scale: 1})
		if d.IsFP8() || d == tensor.Float16 && (q == WeightGradients || q == OutputGradients) {
			r.Lost = append(r.Lost, Lost{DType: d, Scaled: true, Scale: t.LossScale})
		}
	}
	for _, x := range tensors {
		values := x.Float64s()
		largest := 0.0
		for i, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return r, fmt.Errorf("layer %s: %w", name, &tensor.NonFiniteError{What: string(q), Element: i, Value: v})
			}
			largest = max(largest, math.Abs(v))
		}
		for i := range r.Lost {
			if l := &r.Lost[i]; l.Scaled && l.DType.IsFP8() { // a scale for each tensor
				l.Scale = math.Ldexp(1, tensortype.Float8Scale(l.DType, float32(largest)))
			}
		}
		r.add(values)
	}
	return r, nil
}

// add counts the elements of a tensor.
func (r *LayerRange) add(values []float64) {
	infos := make([]DTypeInfo, len(r.Lost))
	for k, l := range r.Lost {
		infos[k] = infoOf(l.DType)
	}
	for _, v := range values {
		m := math.Abs(v)
		r.Elements++
		if m == 0 {
			r.Zeros++
			continue
		}
		if r.Largest = max(r.Largest, m); r.Smallest == 0 || m < r.Smallest {
			r.Smallest = m
		}
		for k := range r.Lost {
			switch l, scaled := &r.Lost[k], m*r.Lost[k].Scale; {
			case infos[k].underflows(scaled):
				l.ToZero++
			case infos[k].overflows(scaled):
				l.TooLarge++
			}
		}
	}
}
