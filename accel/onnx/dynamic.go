package onnx

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

// Sizes that depend on the input are computed when the file runs: from the shape of a value that
// has the size, or from the sizes of the inputs.

// size returns an int64 tensor with one element that is s in every run; "" if it is unknown how
// s depends on the inputs.
func (e *emitter) size(s sizes) string {
	if s.fixed() {
		return e.ints(s[0])
	}
	for _, v := range e.g.inputs {
		if name := e.sizeOf(v, s); name != "" {
			return name
		}
	}
	for v := range e.g.values {
		if e.names[v] != "" && e.g.values[v].constant == nil {
			if name := e.sizeOf(v, s); name != "" {
				return name
			}
		}
	}
	return e.computed(s)
}

// sizeOf reads a size of a value; "" if no size equals s.
func (e *emitter) sizeOf(v int, s sizes) string {
	for d, of := range e.shape(v) {
		if slices.Equal(of, s) {
			return e.once("Gather", []string{e.shapeOf(e.names[v]), e.ints(d)}, attribute{"axis", 0})
		}
	}
	return ""
}

// shapeOf returns the shape of a value.
func (e *emitter) shapeOf(name string) string { return e.once("Shape", []string{name}) }

// computed writes a size as factor·a + offset or factor·a·b + offset, where a and b are sizes of named axes.
func (e *emitter) computed(s sizes) string {
	axes := e.g.plan.axes
	for i, a := range axes {
		if name := e.linear(s, a.sizes, func() string { return e.size(a.sizes) }); name != "" {
			return name
		}
		for _, b := range axes[i:] {
			product := make(sizes, len(s))
			for r := range s {
				product[r] = a.sizes[r] * b.sizes[r]
			}
			name := e.linear(s, product, func() string { return e.node("Mul", []string{e.size(a.sizes), e.size(b.sizes)}) })
			if name != "" {
				return name
			}
		}
	}
	return ""
}

// linear returns factor·of + offset if that is s in every run.
func (e *emitter) linear(s, of sizes, name func() string) string {
	factor, known := 0, false
	for r := range s {
		if d := of[r] - of[0]; d != 0 && (s[r]-s[0])%d == 0 {
			factor, known = (s[r]-s[0])/d, true
			break
		}
	}
	if !known || factor == 0 {
		return ""
	}
	offset := s[0] - factor*of[0]
	for r := range s {
		if s[r] != factor*of[r]+offset {
			return ""
		}
	}
	n := name()
	if factor != 1 {
		n = e.node("Mul", []string{n, e.ints(factor)})
	}
	if offset != 0 {
		n = e.node("Add", []string{n, e.ints(offset)})
	}
	return n
}

// shapeTensor returns a shape as an int64 tensor; "" if a size is unknown.
func (e *emitter) shapeTensor(shape []sizes) string {
	if i := slices.IndexFunc(shape, func(s sizes) bool { return !s.fixed() }); i < 0 {
		return e.ints(first(shape)...)
	}
	parts := make([]string, len(shape))
	for i, s := range shape {
		if parts[i] = e.size(s); parts[i] == "" {
			return ""
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return e.node("Concat", parts, attribute{"axis", 0})
}

// first returns a shape in the first run.
func first(shape []sizes) []int {
	out := make([]int, len(shape))
	for i, s := range shape {
		out[i] = s[0]
	}
	return out
}

// sameSizes reports whether two shapes are equal in all runs.
func sameSizes(a, b []sizes) bool {
	return slices.EqualFunc(a, b, func(x, y sizes) bool { return slices.Equal(x, y) })
}

// unknown returns the error of a shape that cannot be computed.
func (s *step) unknown(g *graph) error {
	var shapes []string
	for r := range g.plan.runs {
		shape := []int{}
		for _, d := range g.values[s.out].shape {
			shape = append(shape, d[r])
		}
		shapes = append(shapes, ir.FormatShape(shape)+" with "+g.plan.text(r))
	}
	return s.fails(ErrUnsupported, "its shape depends on the shape of the input in a way that is not supported: %q", shapes)
}

// patterned writes a constant whose size depends on the input.
func (e *emitter) patterned(v int, p pattern) string {
	d, shape := e.g.values[v].dtype, e.shape(v)
	to := e.shapeTensor(shape)
	if to == "" {
		return ""
	}
	if !p.count {
		return e.node("Expand", []string{e.scalar(d, p.value), to})
	}
	n := e.node("Squeeze", []string{e.size(shape[p.axis]), e.ints(0)})
	count := e.node("Range", []string{e.scalar(tensor.Int64, 0), n, e.scalar(tensor.Int64, 1)})
	if d != tensor.Int64 {
		count = e.cast(count, elements[d])
	}
	var others []int
	for i := range shape {
		if i != p.axis {
			others = append(others, i)
		}
	}
	if len(others) > 0 {
		count = e.node("Unsqueeze", []string{count, e.ints(others...)})
	}
	return e.node("Expand", []string{count, to})
}

// dependentScalar returns a scalar tensor that is value[r] in every run: a constant, or one of the
// supported forms of the number of summed elements or of a named axis. It returns "" if there
// is none.
func (e *emitter) dependentScalar(values []float64, d tensor.DType, counts ...sizes) string {
	if same(values) {
		return e.scalar(d, values[0])
	}
	for _, a := range e.g.plan.axes {
		counts = append(counts, a.sizes)
	}
	for _, n := range counts {
		for _, f := range formulas {
			right := true
			for r, v := range values {
				right = right && f.value(float64(n[r])) == v
			}
			if size := ""; right {
				if size = e.size(n); size == "" {
					continue
				}
				x := e.cast(e.node("Squeeze", []string{size, e.ints(0)}), elements[d])
				return f.write(e, x, d)
			}
		}
	}
	return ""
}

func same(values []float64) bool {
	for _, v := range values {
		if v != values[0] && !(math.IsNaN(v) && math.IsNaN(values[0])) {
			return false
		}
	}
	return true
}
