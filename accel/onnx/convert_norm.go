package onnx

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

var normConverters = []conversion{
	on[ir.LayerNorm](layerNorm),
	on[ir.RMSNorm](rmsNorm),
	on[ir.BatchNorm](batchNorm),
	on[ir.BatchStatistics](batchStatistics),
}

func layerNorm(e *emitter, s *step) (string, error) { return writeLayerNorm(e, s, e.in(s, 0)), nil }

// writeLayerNorm writes a layer normalization of x with the parameters of a step. ONNX's
// LayerNormalization computes the moments in float32, so a float64 one is written as several ops.
func writeLayerNorm(e *emitter, s *step, x string) string {
	epsilon := of[ir.LayerNorm](s)[0].Epsilon
	if d := e.dtype(s); d == tensor.Float64 {
		mean := e.node("ReduceMean", []string{x, e.ints(-1)}, attribute{"keepdims", 1})
		y := e.rmsNormalized(e.node("Sub", []string{x, mean}), epsilon, d)
		return e.node("Add", []string{e.node("Mul", []string{y, e.in(s, 1)}), e.in(s, 2)})
	}
	return e.node("LayerNormalization", []string{x, e.in(s, 1), e.in(s, 2)}, attribute{"axis", -1}, attribute{"epsilon", epsilon})
}

func rmsNorm(e *emitter, s *step) (string, error) { return writeRMSNorm(e, s, e.in(s, 0)), nil }

// writeRMSNorm writes an RMS normalization of x with the parameter of a step.
func writeRMSNorm(e *emitter, s *step, x string) string {
	y := e.rmsNormalized(x, of[ir.RMSNorm](s)[0].Epsilon, e.dtype(s))
	return e.node("Mul", []string{y, e.in(s, 1)})
}

// rmsNormalized writes x/√(mean(x²) + epsilon) along the last axis.
func (e *emitter) rmsNormalized(x string, epsilon float64, d tensor.DType) string {
	mean := e.node("ReduceMean", []string{e.node("Mul", []string{x, x}), e.ints(-1)}, attribute{"keepdims", 1})
	return e.node("Div", []string{x, e.node("Sqrt", []string{e.node("Add", []string{mean, e.scalar(d, epsilon)})})})
}

// batchNorm uses mean and variance separately, as they were before they were concatenated.
func batchNorm(e *emitter, s *step) (string, error) {
	pair, ok := e.moments[s.in[1]]
	if !ok {
		both := e.in(s, 1)
		for i := range pair {
			pair[i] = e.node("Gather", []string{both, e.scalar(tensor.Int64, float64(i))}, attribute{"axis", 0})
		}
	}
	return e.node("BatchNormalization", []string{e.in(s, 0), e.in(s, 2), e.in(s, 3), pair[0], pair[1]},
		attribute{"epsilon", of[ir.BatchNorm](s)[0].Epsilon}), nil
}

// moment returns an input of a step that is a row [1, C], as [C]; "" if it was not made of such
// a row.
func (e *emitter) moment(s *step, i int) string {
	if i >= len(s.in) {
		return ""
	}
	m := e.maker(s.in[i])
	if !isA[ir.Reshape](m) || len(e.shape(m.in[0])) != 1 {
		return ""
	}
	return e.name(m.in[0])
}

// batchStatistics writes mean and variance of each channel of the batch.
func batchStatistics(e *emitter, s *step) (string, error) {
	x, axes := e.in(s, 0), []int{}
	for i := range e.shape(s.in[0]) {
		if i != 1 {
			axes = append(axes, i)
		}
	}
	over := e.ints(axes...)
	kept := e.node("ReduceMean", []string{x, over}, attribute{"keepdims", 1})
	distance := e.node("Sub", []string{x, kept})
	mean := e.node("ReduceMean", []string{x, over}, attribute{"keepdims", 0})
	variance := e.node("ReduceMean", []string{e.node("Mul", []string{distance, distance}), over}, attribute{"keepdims", 0})
	e.moments[s.out] = [2]string{mean, variance}
	row := func(name string) string { return e.node("Unsqueeze", []string{name, e.ints(0)}) }
	return e.node("Concat", []string{row(mean), row(variance)}, attribute{"axis", 0}), nil
}
