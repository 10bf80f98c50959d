package onnx

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/tensor"
)

var elementwiseConverters = []conversion{
	on[ir.Square](square),
	on[ir.ELU](elu),
	on[ir.LeakyReLU](leakyReLU),
	on[ir.AddScalar](addScalar),
	on[ir.MulScalar](mulScalar),
	on[ir.PowScalar](powScalar),
	on[ir.AtLeast](atLeast),
	on[ir.AtMost](atMost),
	on[ir.And](masks("And")),
	on[ir.Or](masks("Or")),
	on[ir.Not](masks("Not")),
	on[ir.Eq](comparison("Equal")),
	on[ir.Greater](comparison("Greater")),
	on[ir.Where](where),
	on[ir.Cast](cast),
}

func square(e *emitter, s *step) (string, error) {
	x := e.in(s, 0)
	return e.node("Mul", []string{x, x}), nil
}

// derived converts an elementwise op by its formula.
func derived(f ir.Formula) converter {
	return func(e *emitter, s *step) (string, error) {
		var err error
		d := e.dtype(s)
		mask := func(op string, in []string) string {
			truth := e.node(op, in)
			name := e.cast(truth, elements[d])
			e.masks[name] = truth
			return name
		}
		a := ir.Arithmetic[string]{
			Scalar: func() string {
				err = s.fails(ErrUnsupported, "its factor needs a converter of its own")
				return ""
			},
			Constant: func(v float64) string { return e.scalar(d, v) },
			Apply: func(op ir.Op, in []string) string {
				switch op.(type) {
				case ir.Eq:
					return mask("Equal", in)
				case ir.Greater:
					return mask("Greater", in)
				case ir.Where:
					return e.node("Where", []string{e.truth(in[0]), in[1], in[2]})
				}
				return e.node(ir.ONNX(op), in)
			},
		}
		for i := range s.in {
			a.Inputs = append(a.Inputs, e.in(s, i))
		}
		return a.Evaluate(f), err
	}
}

func elu(e *emitter, s *step) (string, error) {
	return alpha(e, s, "Elu", each(s, func(o ir.ELU) float64 { return o.Scalar }))
}

func leakyReLU(e *emitter, s *step) (string, error) {
	return alpha(e, s, "LeakyRelu", each(s, func(o ir.LeakyReLU) float64 { return o.Scalar }))
}

// alpha converts an op with one scalar that is an attribute.
func alpha(e *emitter, s *step, op string, values []float64) (string, error) {
	if !same(values) {
		return "", s.fails(ErrChanging, "its factor differs between the calls: %v", values)
	}
	return e.node(op, []string{e.in(s, 0)}, attribute{"alpha", values[0]}), nil
}

func addScalar(e *emitter, s *step) (string, error) {
	c, err := constantOf(e, s, e.dtype(s), func(o ir.AddScalar) float64 { return o.Scalar })
	if err != nil {
		return "", err
	}
	return e.node("Add", []string{e.in(s, 0), c}), nil
}

// mulScalar converts a multiplication by a scalar, or together with a preceding sum a mean.
func mulScalar(e *emitter, s *step) (string, error) {
	added, x, axes := e.findSum(s.in[0])
	if added != nil && len(axes) > 0 {
		mean := true
		for r, factor := range each(s, func(o ir.MulScalar) float64 { return o.Scalar }) {
			mean = mean && factor == 1/float64(added[r])
		}
		if mean {
			return e.node("ReduceMean", []string{e.name(x), e.ints(axes...)}, attribute{"keepdims", 0}), nil
		}
	}
	var counts []sizes
	if added != nil {
		counts = append(counts, added)
	}
	c, err := constantOf(e, s, e.dtype(s), func(o ir.MulScalar) float64 { return o.Scalar }, counts...)
	if err != nil {
		return "", err
	}
	return e.node("Mul", []string{e.in(s, 0), c}), nil
}

func powScalar(e *emitter, s *step) (string, error) {
	c, err := constantOf(e, s, e.dtype(s), func(o ir.PowScalar) float64 { return o.Scalar })
	if err != nil {
		return "", err
	}
	return e.node("Pow", []string{e.in(s, 0), c}), nil
}

func atLeast(e *emitter, s *step) (string, error) {
	return bound(e, s, "Max", each(s, func(o ir.AtLeast) float64 { return o.Scalar }), math.Inf(-1))
}

func atMost(e *emitter, s *step) (string, error) {
	return bound(e, s, "Min", each(s, func(o ir.AtMost) float64 { return o.Scalar }), math.Inf(1))
}

// bound writes a Max or Min with a limit, or nothing if the limit is always none, the infinity
// that limits nothing.
func bound(e *emitter, s *step, op string, limits []float64, none float64) (string, error) {
	if same(limits) && limits[0] == none {
		return e.in(s, 0), nil
	}
	c := e.dependentScalar(limits, e.dtype(s))
	if c == "" {
		return "", s.fails(ErrChanging, "its limit differs between the calls: %v", limits)
	}
	return e.node(op, []string{e.in(s, 0), c}), nil
}

// masks converts an op on truth values, which are floats in our ops: 0 is false.
func masks(op string) converter {
	return func(e *emitter, s *step) (string, error) {
		var in []string
		for i := range s.in {
			in = append(in, e.truth(e.in(s, i)))
		}
		return e.mask(e.node(op, in)), nil
	}
}

// truth converts a float mask to bool.
func (e *emitter) truth(name string) string {
	if b, ok := e.masks[name]; ok {
		return b
	}
	return e.cast(name, elementBool)
}

// mask converts a bool to a float mask.
func (e *emitter) mask(truth string) string {
	name := e.cast(truth, elementFloat)
	e.masks[name] = truth
	return name
}

func comparison(op string) converter {
	return func(e *emitter, s *step) (string, error) {
		a, b := e.in(s, 0), e.in(s, 1)
		if d := e.dtype(s); d == tensor.Uint8 || d == tensor.Bool { // not all runtimes compare these types
			a, b = e.cast(a, elementInt32), e.cast(b, elementInt32)
		}
		return e.mask(e.node(op, []string{a, b})), nil
	}
}

func where(e *emitter, s *step) (string, error) {
	return e.node("Where", []string{e.truth(e.in(s, 0)), e.in(s, 1), e.in(s, 2)}), nil
}

func cast(e *emitter, s *step) (string, error) {
	to := of[ir.Cast](s)[0].To
	if e.dtype(s) == to {
		return e.in(s, 0), nil
	}
	if to == tensor.Bool {
		return e.truth(e.in(s, 0)), nil
	}
	if pair, ok := e.moments[s.in[0]]; ok {
		e.moments[s.out] = [2]string{e.cast(pair[0], elements[to]), e.cast(pair[1], elements[to])}
	}
	return e.cast(e.in(s, 0), elements[to]), nil
}
