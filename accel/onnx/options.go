package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// Option configures [Export].
type Option struct {
	text string
	set  func(*options) error
}

// String returns the option as a Go expression.
func (o Option) String() string { return o.text }

type options struct {
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
	text := fmt.Sprintf("Axes(%d%s)", input, quoted(names, ", "))
	return Option{text, func(o *options) error {
		if input < 0 {
			return fmt.Errorf("onnx: %s: inputs are numbered from 0", text)
		}
		for i, n := range names {
			if n != "" && slices.Contains(names[:i], n) {
				return fmt.Errorf("onnx: %s: two axes of an input have the same name", text)
			}
		}
		o.axes[input] = slices.Clone(names)
		return nil
	}}
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
	text := fmt.Sprintf("%s(%s)", call, strings.TrimPrefix(quoted(names, ", "), ", "))
	return Option{text, func(o *options) error {
		for i, n := range names {
			if n == "" || slices.Contains(names[:i], n) {
				return fmt.Errorf("onnx: %s: the names must be unique and not empty", text)
			}
		}
		*at(o) = slices.Clone(names)
		return nil
	}}
}

// Uses lists the models that the function of [ExportFunc] uses: their layers compute in
// evaluation mode, and their parameters keep their names. With one model the names are as in
// [nn.State]; with several they begin with a number, "1.0.weight".
func Uses(models ...any) Option {
	return Option{fmt.Sprintf("Uses(%d models)", len(models)), func(o *options) error {
		for i, m := range models {
			if m == nil {
				return fmt.Errorf("onnx: Uses: model %d is nil", i)
			}
		}
		o.uses = append(o.uses, models...)
		return nil
	}}
}

// Name sets the name of the graph in the file; the default is "quern".
func Name(name string) Option {
	return Option{fmt.Sprintf("Name(%q)", name), func(o *options) error {
		o.name = name
		return nil
	}}
}

// Note adds an entry to the metadata of the file, for example the class names.
func Note(key, value string) Option {
	return Option{fmt.Sprintf("Note(%q, %q)", key, value), func(o *options) error {
		o.notes = append(o.notes, [2]string{key, value})
		return nil
	}}
}

// ExternalData puts the weights into a separate file beside the model file, with ".data"
// appended to its name. Weights of more than 2 GiB need it.
func ExternalData() Option {
	return Option{"ExternalData()", func(o *options) error {
		o.external = true
		return nil
	}}
}

func quoted(names []string, before string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "%s%q", before, n)
	}
	return b.String()
}
