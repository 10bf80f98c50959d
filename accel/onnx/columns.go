package onnx

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/option"
)

// Feature is one or more features that are computed from a column of a table: a [Number] or a [Category].
type Feature interface {
	// width returns the number of features.
	width() int
	// from returns the name of the column, and whether its values are text.
	from() (column string, text bool)
	// check reports values that a file cannot have.
	check() error
	// write writes nodes that compute the features, [batch, width] of type float, from the column, [batch, 1].
	write(e *emitter, column string) string
}

// Columns replaces the input of a model, [batch, features], by one input [batch, 1] for each column that the features
// are computed from, with the name of the column. The inputs of texts have the type string, all others the type double.
// Missing values are empty strings and NaN, and true is 1.
//
// Values that cannot be prepared are an error when the file runs, in a node whose name has the name of the column: a Gather
// whose index is out of range.
//
// The method ExportONNX of accel/preprocess makes the features of a fitted transform.
func Columns(features ...Feature) Option {
	o := option.New(func(o *options) { o.columns = slices.Clone(features) }, "Columns", option.Code(fmt.Sprintf("%d features", len(features)))).
		Require(len(features) > 0, "there are no features")
	for _, f := range features {
		o = o.Check(f.check())
	}
	return Option{o}
}

// checkColumns checks the features against the example.
func (o *options) checkColumns(examples []*Tensor) error {
	if o.columns == nil {
		return nil
	}
	width, text := 0, map[string]bool{}
	for _, f := range o.columns {
		width += f.width()
		name, isText := f.from()
		if other, ok := text[name]; ok && other != isText {
			return fmt.Errorf("onnx: Columns: %q has texts and numbers", name)
		}
		text[name] = isText
	}
	x := examples[0]
	switch {
	case len(examples) != 1 || o.inputs != nil:
		return errors.New("onnx: Columns: the function must have one input, and no Inputs")
	case x.NDim() != 2 || x.Size(1) != width || x.DType().String() != "float32":
		return fmt.Errorf("onnx: Columns: the example must have the shape [batch %d] and the type float32, but has %v and %s", width, x.Shape(), x.DType())
	}
	return nil
}

// columns adds the inputs of all columns, and computes the input v of the model from them.
func (e *emitter) columns(v int, features []Feature) error {
	var parts []string
	for _, f := range features {
		name, text := f.from()
		if !slices.ContainsFunc(e.model.inputs, func(p port) bool { return p.name == name }) {
			if e.taken[name] > 0 {
				return fmt.Errorf("onnx: a column and a parameter are both named %q: rename the column", name)
			}
			e.taken[name]++
			element := elementDouble
			if text {
				element = elementString
			}
			e.model.inputs = append(e.model.inputs, port{name: name, element: element, shape: []dimension{e.dimensions(v)[0], {size: 1, known: true}}})
		}
		parts = append(parts, f.write(e, name))
	}
	e.names[v] = e.node("Concat", parts, attribute{"axis", 1})
	return nil
}

// require returns x if bad, [batch, 1] of type bool, is false in all rows. Otherwise the node that it adds fails,
// and so does the file.
func (e *emitter) require(x, bad, message string) string {
	index := e.cast(bad, elementInt64)
	zero := e.node("Gather", []string{e.vector("/zero", 0), index}, attribute{"axis", 0})
	e.model.nodes[len(e.model.nodes)-1].name = "/" + message
	return e.node("Add", []string{x, zero})
}
