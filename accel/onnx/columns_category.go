package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

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
	var raw []byte
	for _, v := range c.Numbers {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	e.weights[name] = weight{name: name, element: elementDouble, shape: []int{1, len(c.Numbers)}, raw: raw}
	known := e.node("Equal", []string{x, name})
	if c.Missing {
		known = e.node("Concat", []string{known, missing}, attribute{"axis", 1})
	}
	return known
}
