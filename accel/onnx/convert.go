package onnx

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/tensor"
)

// converter writes the ONNX nodes of a step and returns the name of the result.
type converter func(e *emitter, s *step) (string, error)

// converters are the converters of all supported ops, by name.
var converters = map[string]converter{
	"Abs": direct("Abs"), "Add": direct("Add"), "Cos": direct("Cos"), "Div": direct("Div"),
	"Exp": direct("Exp"), "Floor": direct("Floor"), "GELU": direct("Gelu"), "Log": direct("Log"),
	"Maximum": direct("Max"), "Minimum": direct("Min"), "Mul": direct("Mul"), "Neg": direct("Neg"),
	"Pow": direct("Pow"), "ReLU": direct("Relu"), "Sigmoid": direct("Sigmoid"), "Sin": direct("Sin"),
	"Sqrt": direct("Sqrt"), "Sub": direct("Sub"), "Tanh": direct("Tanh"),
	"Square": square, "SiLU": silu, "ELU": elu, "LeakyReLU": leakyReLU,
	"AddScalar": addScalar, "MulScalar": mulScalar, "PowScalar": powScalar, "AtLeast": atLeast, "AtMost": atMost,

	"And": masks("And"), "Or": masks("Or"), "Not": masks("Not"),
	"Eq": comparison("Equal"), "Greater": comparison("Greater"), "Where": where, "Cast": cast,

	"Alias": identity, "Copy": identity, "Finite": identity, "Fill": fill,
	"Reshape": reshape, "Permute": permute, "Slice": slice, "Pad": pad, "Expand": expand, "Concat": concat,

	"Sum": sum, "Max": maximum, "ArgMax": argMax, "CumSum": cumSum,
	"Softmax": rows("Softmax"), "LogSoftmax": rows("LogSoftmax"), "CrossEntropy": crossEntropy,

	"IndexSelect": indexSelect, "Index": index, "OneHot": oneHot, "IndexAdd": indexAdd,

	"Linear": linear, "Int8Linear": int8Linear, "Quantized": quantized, "MatMul": direct("MatMul"), "Attention": attention,
	"Conv2D": conv, "MaxPool2D": maxPool, "AvgPool2D": avgPool,

	"LayerNorm": layerNorm, "RMSNorm": rmsNorm, "BatchNorm": batchNorm, "BatchStatistics": batchStatistics,
}

// unsupported are the unsupported ops by name, with the reason.
var unsupported = map[string]error{
	"Bernoulli": fmt.Errorf("%w: pass modules with Dropout to Uses, so that they are in evaluation mode", ErrRandom),

	"Round8": fmt.Errorf("%w: it rounds to 8-bit floats; AutocastFP8 is for training", ErrUnsupported),

	"Recompute":              fmt.Errorf("%w: it is recorded only for gradients", ErrUnsupported),
	"AttentionGradient":      gradient,
	"AvgPool2DGradient":      gradient,
	"BatchNormInputGradient": gradient, "BatchNormSums": gradient,
	"Conv2DInputGradient": gradient, "Conv2DWeightGradient": gradient,
	"CrossEntropyGradient":   gradient,
	"GELUGradient":           gradient,
	"LayerNormInputGradient": gradient, "LayerNormWeightGradient": gradient,
	"MaxPool2DGradient":    gradient,
	"RMSNormInputGradient": gradient, "RMSNormWeightGradient": gradient,
	"ReLUGradient": gradient,
}

var gradient = fmt.Errorf("%w: it is part of a gradient; export the forward pass only", ErrUnsupported)

// unsupportedError returns the error of a step without a converter.
func (s *step) unsupportedError() error {
	reason := unsupported[s.ops[0].Name()]
	if reason == nil {
		reason = ErrUnsupported
	}
	return &Error{Op: s.ops[0].Name(), Path: s.path, Layer: s.kind, Err: reason}
}

// direct converts an op that exists in ONNX with the same inputs.
func direct(op string) converter {
	return func(e *emitter, s *step) (string, error) {
		in := make([]string, len(s.in))
		for i := range s.in {
			in[i] = e.in(s, i)
		}
		return e.node(op, in), nil
	}
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

// constantOf adds a scalar of an op as a weight with element type d.
func constantOf[T ir.Op](e *emitter, s *step, d tensor.DType, number func(T) float64, counts ...sizes) (string, error) {
	values := each(s, number)
	name := e.dependentScalar(values, d, counts...)
	if name == "" {
		return "", s.fails(ErrChanging, "its factor differs between the calls, %v, and does not depend on the size of the input in a supported way", values)
	}
	return name, nil
}
