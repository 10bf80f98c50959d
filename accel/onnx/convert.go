package onnx

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

// converter writes the ONNX nodes of a step and returns the name of the result.
type converter func(e *emitter, s *step) (string, error)

// converters are the converters of ops, by type; each file that defines some lists them. An op
// that is a single operator of ONNX states it itself (ir.ONNX).
var converters = func() map[reflect.Type]converter {
	all := map[reflect.Type]converter{}
	for _, c := range slices.Concat(elementwiseConverters, indexConverters, matmulConverters, normConverters, quantizedConverters, reduceConverters, shapeConverters) {
		all[c.op] = c.convert
	}
	return all
}()

// conversion is the converter of one op.
type conversion struct {
	op      reflect.Type
	convert converter
}

func on[T ir.Op](convert converter) conversion { return conversion{reflect.TypeFor[T](), convert} }

// converterOf returns the converter of a step, or an error that says why there is none.
func converterOf(s *step) (converter, error) {
	op := s.ops[0]
	if ir.ONNX(op).Name != "" {
		return direct, nil
	}
	if convert := converters[reflect.TypeOf(op)]; convert != nil {
		return convert, nil
	}
	if f, ok := ir.FormulaOf(op); ok {
		return derived(f), nil
	}
	reason := ErrUnsupported
	if why := ir.NoONNX(op); why != "" {
		reason = fmt.Errorf("%w: %s", ErrUnsupported, why)
	}
	if _, random := op.(ir.Bernoulli); random {
		reason = fmt.Errorf("%w: pass modules with Dropout to Uses, so that they are in evaluation mode", ErrRandom)
	}
	return nil, &Error{Op: op.Name(), Path: s.path, Layer: s.kind, Err: reason}
}

// direct converts an op that is one operator of ONNX.
func direct(e *emitter, s *step) (string, error) {
	o := ir.ONNX(s.ops[0])
	for _, op := range s.ops[1:] {
		if !reflect.DeepEqual(ir.ONNX(op), o) {
			return "", s.fails(ErrChanging, "its parameters differ between the calls: %+v and %+v", s.ops[0], op)
		}
	}
	in := e.inputs(s)
	for _, c := range o.Constants {
		switch v := c.(type) {
		case int:
			in = append(in, e.scalar(tensor.Int64, float64(v)))
		case []int:
			in = append(in, e.ints(v...))
		}
	}
	var attributes []attribute
	for _, a := range o.Attributes {
		attributes = append(attributes, attribute{a.Name, a.Value})
	}
	return e.node(o.Name, in, attributes...), nil
}

// identity converts an op that returns its input.
func identity(e *emitter, s *step) (string, error) { return e.in(s, 0), nil }

// of returns the op of each run, with its type.
func of[T ir.Op](s *step) []T {
	all := make([]T, len(s.ops))
	for r, o := range s.ops {
		all[r] = o.(T)
	}
	return all
}

// each returns a scalar of the op in each run.
func each[T ir.Op, N int | float64](s *step, number func(T) N) []N {
	all := make([]N, len(s.ops))
	for r, o := range of[T](s) {
		all[r] = number(o)
	}
	return all
}

// constantOf adds a scalar of an op, with its value in each run, as a weight with element type d.
func constantOf(e *emitter, s *step, d tensor.DType, values []float64, counts ...sizes) (string, error) {
	name := e.dependentScalar(values, d, counts...)
	if name == "" {
		return "", s.fails(ErrChanging, "its factor differs between the calls, %v, and does not depend on the size of the input in a supported way", values)
	}
	return name, nil
}
