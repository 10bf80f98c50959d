package onnx

import (
	"errors"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

var elementwiseConverters = []conversion{
	on[ir.ELU](alpha("Elu")),
	on[ir.LeakyReLU](alpha("LeakyRelu")),
	on[ir.MulScalar](mulScalar),
	on[ir.AtLeast](bound("Max", math.Inf(-1))),
	on[ir.AtMost](bound("Min", math.Inf(1))),
	on[ir.And](masks("And")),
	on[ir.Or](masks("Or")),
	on[ir.Not](masks("Not")),
	on[ir.Eq](comparison("Equal")),
	on[ir.Greater](comparison("Greater")),
	on[ir.Where](where),
	on[ir.Cast](cast),
}

// derived converts an elementwise op by its formula.
func derived(f ir.Formula) converter {
	return func(e *emitter, s *step) (string, error) { return e.formula(s, f, e.inputs(s)) }
}

// formula writes a formula of inputs that have the type of the step's first one.
func (e *emitter) formula(s *step, f ir.Formula, in []string) (name string, err error) {
	d := e.dtype(s)
	a := ir.Arithmetic[string]{
		Inputs: in,
		Scalar: func() string {
			c, fails := constantOf(e, s, d, scalars(s))
			err = errors.Join(err, fails)
			return c
		},
		Constant: func(v float64) string { return e.scalar(d, v) },
		Apply: func(op ir.Op, in []string) string {
			switch op.(type) {
			case ir.Eq:
				return e.mask(e.node("Equal", in), elements[d])
			case ir.Greater:
				return e.mask(e.node("Greater", in), elements[d])
			case ir.Where:
				return e.node("Where", []string{e.truth(in[0]), in[1], in[2]})
			}
			if o := ir.ONNX(op); o.Name != "" {
				return e.node(o.Name, in)
			}
			f, ok := ir.FormulaOf(op)
			if !ok {
				err = errors.Join(err, s.fails(ErrUnsupported, "its formula needs %s", op.Name()))
				return ""
			}
			y, fails := e.formula(s, f, in)
			err = errors.Join(err, fails)
			return y
		},
	}
	name = a.Evaluate(f)
	return name, err
}

// scalars returns the scalar of an elementwise op in each run.
func scalars(s *step) []float64 {
	all := make([]float64, len(s.ops))
	for r, op := range s.ops {
		all[r] = math.Float64frombits(op.(ir.Dynamic).AppendWords(nil)[0])
	}
	return all
}

// alpha converts an op with one scalar that is an attribute.
func alpha(op string) converter {
	return func(e *emitter, s *step) (string, error) {
		values := scalars(s)
		if !same(values) {
			return "", s.fails(ErrChanging, "its factor differs between the calls: %v", values)
		}
		return e.node(op, []string{e.in(s, 0)}, attribute{"alpha", values[0]}), nil
	}
}

// mulScalar converts a multiplication by a scalar, or together with a preceding sum a mean.
func mulScalar(e *emitter, s *step) (string, error) {
	added, x, axes := e.findSum(s.in[0])
	if added != nil && len(axes) > 0 {
		mean := true
		for r, factor := range scalars(s) {
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
	c, err := constantOf(e, s, e.dtype(s), scalars(s), counts...)
	if err != nil {
		return "", err
	}
	return e.node("Mul", []string{e.in(s, 0), c}), nil
}

// bound writes a Max or Min with a limit, or nothing if the limit is always none, the infinity
// that limits nothing.
func bound(op string, none float64) converter {
	return func(e *emitter, s *step) (string, error) {
		limits := scalars(s)
		if same(limits) && limits[0] == none {
			return e.in(s, 0), nil
		}
		c, err := constantOf(e, s, e.dtype(s), limits)
		return e.node(op, []string{e.in(s, 0), c}), err
	}
}

// masks converts an op on truth values, which are floats in our ops: 0 is false.
func masks(op string) converter {
	return func(e *emitter, s *step) (string, error) {
		in := e.inputs(s)
		for i, name := range in {
			in[i] = e.truth(name)
		}
		return e.mask(e.node(op, in), elementFloat), nil
	}
}

// truth converts a float mask to bool.
func (e *emitter) truth(name string) string {
	if b, ok := e.masks[name]; ok {
		return b
	}
	return e.cast(name, elementBool)
}

// mask converts a bool to a mask of floats.
func (e *emitter) mask(truth string, to elementType) string {
	name := e.cast(truth, to)
	e.masks[name] = truth
	return name
}

func comparison(op string) converter {
	return func(e *emitter, s *step) (string, error) {
		a, b := e.in(s, 0), e.in(s, 1)
		if d := e.dtype(s); d == tensor.Uint8 || d == tensor.Bool { // not all runtimes compare these types
			a, b = e.cast(a, elementInt32), e.cast(b, elementInt32)
		}
		return e.mask(e.node(op, []string{a, b}), elementFloat), nil
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
