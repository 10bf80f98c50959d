package onnx

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Export writes a model to an ONNX file. example is an input for the model with at least one
// example; its first axis is named "batch" and may have any size, see [Axes]. Layers compute in
// evaluation mode, but the mode of the model does not change; layers without parameters create
// them from the example.
//
// If the model cannot be exported, the error is an [*Error]; a shape that does not fit is a
// *tensor.ShapeError, wrapped with the name of the layer. An existing file is replaced
// completely or not at all.
func Export(path string, model nn.Module, example *tensor.Tensor, options ...Option) error {
	m, err := Build(model, example, options...)
	if err != nil {
		return err
	}
	return m.Save(path)
}

// ExportFunc is [Export] for a function, which may have several inputs and outputs. [Uses]
// names the models that it calls.
func ExportFunc(path string, function func(inputs []*tensor.Tensor) []*tensor.Tensor, examples []*tensor.Tensor, options ...Option) error {
	m, err := BuildFunc(function, examples, options...)
	if err != nil {
		return err
	}
	return m.Save(path)
}

// Build returns the model that [Export] writes.
func Build(model nn.Module, example *tensor.Tensor, options ...Option) (*Model, error) {
	if model == nil {
		return nil, errors.New("onnx: model is nil: check the error returned where it was created")
	}
	function := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{model.Forward(in[0])} }
	return BuildFunc(function, []*tensor.Tensor{example}, append(options[:len(options):len(options)], Uses(model))...)
}

// BuildFunc returns the model that [ExportFunc] writes.
func BuildFunc(function func(inputs []*tensor.Tensor) []*tensor.Tensor, examples []*tensor.Tensor, list ...Option) (*Model, error) {
	o, err := settings(function, examples, list)
	if err != nil {
		return nil, err
	}
	s, err := o.plan(examples)
	if err != nil {
		return nil, err
	}
	defer nn.Eval(o.uses)()
	meter := display.NewMeter("exporting "+o.name, exportSteps)
	defer meter.End()
	meter.Set(0, "computing the example")
	g, err := trace(function, s)
	if err != nil {
		return nil, err
	}
	defer g.first.Release()
	return emit(g, o, meter)
}

// exportSteps is the number of steps of the progress bar: computing the example, and writing
// operators.
const exportSteps = 2

// settings evaluates the options and checks them against the examples.
func settings(function func([]*tensor.Tensor) []*tensor.Tensor, examples []*tensor.Tensor, list []Option) (*options, error) {
	if function == nil {
		return nil, errors.New("onnx: function is nil")
	}
	if len(examples) == 0 {
		return nil, errors.New("onnx: there is no example input")
	}
	for i, x := range examples {
		if x == nil {
			return nil, fmt.Errorf("onnx: the example of input %d is nil", i)
		}
	}
	o := &options{axes: map[int][]string{}, name: "quern"}
	if err := option.Apply("onnx.Export", o, list, "Axes", "Inputs", "Outputs", "Uses", "Name", "Note", "ExternalData", "Columns"); err != nil {
		return nil, err
	}
	for input, names := range o.axes {
		if input >= len(examples) {
			return nil, fmt.Errorf("onnx: Axes(%d): there are only %d inputs, numbered from 0", input, len(examples))
		}
		if n := examples[input].NDim(); len(names) > n {
			return nil, fmt.Errorf("onnx: Axes(%d): %d names, but the input has %d axes", input, len(names), n)
		}
	}
	if err := o.checkColumns(examples); err != nil {
		return nil, err
	}
	if o.inputs != nil && len(o.inputs) != len(examples) {
		return nil, fmt.Errorf("onnx: Inputs: %d names for %d inputs", len(o.inputs), len(examples))
	}
	return o, nil
}
