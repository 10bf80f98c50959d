package onnx

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// Option configures [Export], [ExportFunc], [Build] and [BuildFunc], or [Model.SaveTriton]; String returns
// it as a Go expression. Functions fail for an option that they do not take.
type Option struct{ setting }

type setting = option.Of[options]

type options struct {
	serving // of SaveTriton

	axes     map[int][]string // by input: names of its axes, "" for a fixed size
	inputs   []string
	columns  []Feature // that the input is computed from
	outputs  []string
	uses     []any
	name     string
	notes    [][2]string
	external bool
}

// Axes names the axes of an input, counted from 0, whose sizes are variable; "" means a fixed
// size. Axes with the same name have the same size, in all inputs. By default, the first axis
// of each input is "batch", and all others are fixed:
//
//	onnx.Axes(0, "batch", "time") // [batch, time], further axes are fixed
//	onnx.Axes(1)                  // the second input has a fixed shape
//
// The example must have at least size 1 in a named axis. For a model with a maximum sequence
// length, pass an example of that length.
func Axes(input int, names ...string) Option {
	o := option.New(func(o *options) { o.axes[input] = slices.Clone(names) }, "Axes", append([]any{input}, option.Each(names)...)...).
		Require(input >= 0, "inputs are numbered from 0")
	for i, n := range names {
		o = o.Require(n == "" || !slices.Contains(names[:i], n), "two axes of an input have the same name")
	}
	return Option{o}
}

// Inputs names the inputs in order. The default is "input", or "input_0" and so on for several.
func Inputs(names ...string) Option {
	return namesOption("Inputs", names, func(o *options) *[]string { return &o.inputs })
}

// Outputs names the outputs in order. The default is "output", or "output_0" and so on for
// several.
func Outputs(names ...string) Option {
	return namesOption("Outputs", names, func(o *options) *[]string { return &o.outputs })
}

func namesOption(call string, names []string, at func(*options) *[]string) Option {
	o := option.New(func(o *options) { *at(o) = slices.Clone(names) }, call, option.Each(names)...)
	for i, n := range names {
		o = o.Require(n != "" && !slices.Contains(names[:i], n), "the names must be unique and not empty")
	}
	return Option{o}
}

// Uses lists the models that the function of [ExportFunc] uses: their layers compute in
// evaluation mode, and their parameters keep their names. With one model the names are as in
// [nn.State]; with several they begin with a number, "1.0.weight".
func Uses(models ...any) Option {
	o := option.New(func(o *options) { o.uses = append(o.uses, models...) }, "Uses", option.Code(fmt.Sprintf("%d models", len(models))))
	for i, m := range models {
		o = o.Require(m != nil, fmt.Sprintf("model %d is nil", i))
	}
	return Option{o}
}

// Name sets the name of the graph in the file; the default is "quern".
func Name(name string) Option {
	return Option{option.New(func(o *options) { o.name = name }, "Name", name)}
}

// Note adds an entry to the metadata of the file, for example the class names.
func Note(key, value string) Option {
	return Option{option.New(func(o *options) { o.notes = append(o.notes, [2]string{key, value}) }, "Note", key, value)}
}

// ExternalData puts the weights into a separate file beside the model file, with ".data"
// appended to its name. Weights of more than 2 GiB need it.
func ExternalData() Option {
	return Option{option.New(func(o *options) { o.external = true }, "ExternalData")}
}
