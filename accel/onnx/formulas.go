package onnx

import (
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// formula is a formula by which a number depends on a size.
type formula struct {
	value func(n float64) float64
	write func(e *emitter, n string, d tensor.DType) string
}

// formulas are the supported formulas: a size, its inverse, the inverse of the size minus one (for
// a sample variance), and square roots.
var formulas = []formula{
	{func(n float64) float64 { return n }, func(_ *emitter, n string, _ tensor.DType) string { return n }},
	{func(n float64) float64 { return 1 / n }, func(e *emitter, n string, _ tensor.DType) string {
		return e.node("Reciprocal", []string{n})
	}},
	{func(n float64) float64 { return 1 / (n - 1) }, func(e *emitter, n string, d tensor.DType) string {
		return e.node("Reciprocal", []string{e.node("Sub", []string{n, e.scalar(d, 1)})})
	}},
	{math.Sqrt, func(e *emitter, n string, _ tensor.DType) string { return e.node("Sqrt", []string{n}) }},
	{func(n float64) float64 { return 1 / math.Sqrt(n) }, func(e *emitter, n string, _ tensor.DType) string {
		return e.node("Reciprocal", []string{e.node("Sqrt", []string{n})})
	}},
}
