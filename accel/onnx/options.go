package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// Option changes what [Export] writes.
type Option struct {
	text string
	set  func(*options) error
}

// String is the option as it is written in Go.
func (o Option) String() string { return o.text }

type options struct {
	axes     map[int][]string // by input; the names of its axes, "" for a size that stays
	inputs   []string
	outputs  []string
	uses     []any
	name     string
	notes    [][2]string
	external bool
}

// Axes names the axes of an input, counted from 0, whose sizes may be others than
// the example's; "" is for one that stays. Axes of one name have one size, in all
// inputs. Without the option the first axis of each input is "batch", and all others
// stay:
//
//	onnx.Axes(0, "batch", "time") // [batch, time], and what is behind it stays
//	onnx.Axes(1)                  // nothing of the second input changes
//
// The example must be at least 1 long in a named axis. A model that knows a longest
// sequence should be given one of that length.
func Axes(input int, names ...string) Option {
	text := fmt.Sprintf("Axes(%d%s)", input, quoted(names, ", "))
	return Option{text, func(o *options) error {
		if input < 0 {
			return fmt.Errorf("onnx: %s: inputs are counted from 0", text)
		}
		for i, n := range names {
			if n != "" && slices.Contains(names[:i], n) {
				return fmt.Errorf("onnx: %s: two axes of an input cannot have one name", text)
			}
		}
		o.axes[input] = slices.Clone(names)
		return nil
	}}
}

// Inputs names the inputs, in order. The default is "input", or "input_0" and so on
// where there are several.
func Inputs(names ...string) Option {
	return namesOption("Inputs", names, func(o *options) *[]string { return &o.inputs })
}

// Outputs names the outputs, in order. The default is "output", or "output_0" and so
// on where there are several.
func Outputs(names ...string) Option {
	return namesOption("Outputs", names, func(o *options) *[]string { return &o.outputs })
}

func namesOption(call string, names []string, at func(*options) *[]string) Option {
	text := fmt.Sprintf("%s(%s)", call, strings.TrimPrefix(quoted(names, ", "), ", "))
	return Option{text, func(o *options) error {
		for i, n := range names {
			if n == "" || slices.Contains(names[:i], n) {
				return fmt.Errorf("onnx: %s: each needs a name of its own", text)
			}
		}
		*at(o) = slices.Clone(names)
		return nil
	}}
}

// Uses tells which models the function of [ExportFunc] uses: their layers compute as
// in evaluation, and their parameters have their names in the file. The names of one
// model are as in [nn.State]; those of several begin with a number, "1.0.weight".
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

// Name is what the graph is called in the file; the default is "quern".
func Name(name string) Option {
	return Option{fmt.Sprintf("Name(%q)", name), func(o *options) error {
		o.name = name
		return nil
	}}
}

// Note adds a line to the metadata of the file, for example the names of classes.
func Note(key, value string) Option {
	return Option{fmt.Sprintf("Note(%q, %q)", key, value), func(o *options) error {
		o.notes = append(o.notes, [2]string{key, value})
		return nil
	}}
}

// ExternalData puts the weights into a file of their own, beside the model's, with
// ".data" behind its name. It is needed for weights of more than 2 GiB.
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
