package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

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

// vector adds a one-dimensional weight of float values.
func (e *emitter) vector(name string, values ...float32) string {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	e.weights[name] = weight{name: name, element: elementFloat, shape: []int{len(values)}, raw: raw}
	return name
}
