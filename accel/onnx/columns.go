package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
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
func (o *options) checkColumns(examples []*tensor.Tensor) error {
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
	zero := e.node("Gather", []string{e.add("/zero", elementFloat, make([]byte, 4), 1), index}, attribute{"axis", 0})
	e.model.nodes[len(e.model.nodes)-1].name = "/" + message
	return e.node("Add", []string{x, zero})
}

// Number is the feature (x-Mean)/Scale of a column of numbers, or (log(1+x)-Mean)/Scale with Log. Missing values are
// replaced by Fill before that, unless it is nil: then they are errors, as are infinite results. With
// Indicator there is a second feature, which is 1 where the value is missing.
type Number struct {
	Column         string   // name of the column
	Fill           *float64 // replaces missing values
	Indicator, Log bool     // as described above
	Mean, Scale    float64  // Scale is not zero
}

func (n Number) width() int {
	if n.Indicator {
		return 2
	}
	return 1
}

func (n Number) from() (string, bool) { return n.Column, false }

func (n Number) check() error {
	if !(n.Scale > 0) || math.IsNaN(n.Mean) || math.IsInf(n.Mean, 0) || math.IsInf(n.Scale, 0) || n.Fill != nil && math.IsNaN(*n.Fill) {
		return fmt.Errorf("onnx: column %q: the mean %g, the scale %g or the value for missing ones is no number", n.Column, n.Mean, n.Scale)
	}
	return nil
}

// write computes in float64, as accel/preprocess does.
func (n Number) write(e *emitter, x string) string {
	number := func(v float64) string { return e.scalar(tensor.Float64, v) }
	missing := e.node("IsNaN", []string{x})
	if n.Fill != nil {
		x = e.node("Where", []string{missing, number(*n.Fill), x})
	}
	if n.Log {
		x = e.node("Log", []string{e.node("Add", []string{x, number(1)})})
	}
	x = e.node("Div", []string{e.node("Sub", []string{x, number(n.Mean)}), number(n.Scale)})
	x = e.cast(x, elementFloat)
	bad := e.node("Or", []string{e.node("IsNaN", []string{x}), e.node("IsInf", []string{x})})
	message := fmt.Sprintf("column %q: a value is missing, infinite or too large", n.Column)
	if n.Log {
		message = fmt.Sprintf("column %q: a value is missing, infinite or not above -1", n.Column)
	}
	x = e.require(x, bad, message)
	if n.Indicator {
		x = e.node("Concat", []string{x, e.cast(missing, elementFloat)}, attribute{"axis", 1})
	}
	return x
}

// Category is one feature for each value of a column: 1 where the row has the value, and otherwise 0. With Missing, the
// missing value is one more value, the last one. With Index there is one feature instead, the number of the value.
//
// With Other, the features of other values are 0, or with Index the number of values; otherwise they are errors.
type Category struct {
	Column                string    // name of the column
	Texts                 []string  // the values of a column of texts, none of which is empty
	Numbers               []float64 // or those of another column
	Missing, Index, Other bool      // as described above
}

// count returns the number of values, with the missing one.
func (c Category) count() int {
	n := len(c.Texts) + len(c.Numbers)
	if c.Missing {
		n++
	}
	return n
}

func (c Category) width() int {
	if c.Index {
		return 1
	}
	return c.count()
}

func (c Category) from() (string, bool) { return c.Column, c.Numbers == nil }

func (c Category) check() error {
	if (c.Texts == nil) == (c.Numbers == nil) || c.count() == 0 || slices.Contains(c.Texts, "") || slices.ContainsFunc(c.Numbers, math.IsNaN) {
		return fmt.Errorf("onnx: column %q: a category needs values, either texts that are not empty or numbers", c.Column)
	}
	return nil
}

func (c Category) write(e *emitter, x string) string {
	known := e.categories(c, x)
	hot := e.cast(known, elementFloat)
	if c.Index {
		hot = e.cast(e.node("ArgMax", []string{hot}, attribute{"axis", 1}, attribute{"keepdims", 1}), elementFloat)
	}
	if c.Other && !c.Index {
		return hot
	}
	seen := e.node("ReduceMax", []string{e.cast(known, elementFloat), e.ints(1)}, attribute{"keepdims", 1})
	seen = e.cast(seen, elementBool)
	if c.Other {
		return e.node("Where", []string{seen, hot, e.scalar(tensor.Float32, float64(c.count()))})
	}
	return e.require(hot, e.node("Not", []string{seen}), fmt.Sprintf("column %q: a value is not one of the categories", c.Column))
}

// categories compares a column with all values: [batch, count] of type bool.
func (e *emitter) categories(c Category, x string) string {
	name := e.unique("/categories/" + c.Column)
	if c.Numbers == nil {
		texts := c.Texts
		if c.Missing {
			texts = append(slices.Clone(texts), "")
		}
		e.weights[name] = weight{name: name, element: elementString, shape: []int{1, len(texts)}, texts: texts}
		return e.node("Equal", []string{x, name})
	}
	missing := ""
	if c.Missing {
		missing = e.node("IsNaN", []string{x})
	}
	if len(c.Numbers) == 0 {
		return missing
	}
	n := len(c.Numbers)
	known := e.node("Equal", []string{x, e.add(name, elementDouble, tensor.FromFloat64s(c.Numbers, n).Raw(), 1, n)})
	if c.Missing {
		known = e.node("Concat", []string{known, missing}, attribute{"axis", 1})
	}
	return known
}
