package onnx

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

var matmulConverters = []conversion{
	on[ir.Linear](linear),
	on[ir.Int8Linear](int8Linear),
	on[ir.Attention](attention),
	on[ir.Conv2D](conv),
	on[ir.Conv2DInputGradient](convTranspose),
	on[ir.MaxPool2D](maxPool),
	on[ir.AvgPool2D](avgPool),
}

func linear(e *emitter, s *step) (string, error) {
	return e.node("Gemm", e.inputs(s), attribute{"transB", 1}), nil
}

func int8Linear(e *emitter, s *step) (string, error) { return writeInt8Linear(e, s, e.in(s, 0)), nil }

// writeInt8Linear writes a linear layer whose weights are 8-bit integers in the file and are
// converted to floats when used.
func writeInt8Linear(e *emitter, s *step, x string) string {
	w := of[ir.Int8Linear](s)[0].Weights
	names, ok := e.int8Weights[w]
	if !ok {
		raw := make([]byte, len(w.Weight))
		for i, b := range w.Weight {
			raw[i] = byte(b)
		}
		prefix := "/" + e.layerPrefix(nil)
		names = []string{
			e.add(e.unique(prefix+"weight"), elementInt8, raw, w.Out, w.In),
			e.add(e.unique(prefix+"step"), elementFloat, tensor.New(w.Step, w.Out).Raw(), w.Out),
		}
		e.int8Weights[w] = names
	}
	floats := e.once("DequantizeLinear", names, attribute{"axis", 0})
	return e.node("MatMul", []string{x, e.once("Transpose", []string{floats}, attribute{"perm", []int{1, 0}})})
}

// attention writes softmax(q·kᵀ·scale + added)·v. If it is causal, everything above the
// diagonal is masked.
func attention(e *emitter, s *step) (string, error) {
	scales := each(s, func(o ir.Attention) float64 { return o.Scale })
	d := e.dtype(s)
	scale := e.dependentScalar(scales, d)
	if scale == "" {
		return "", s.fails(ErrChanging, "its scale differs between the calls: %v", scales)
	}
	q := e.node("Mul", []string{e.in(s, 0), scale})
	k := e.node("Transpose", []string{e.in(s, 1)}, attribute{"perm", []int{0, 1, 3, 2}})
	scores := e.node("MatMul", []string{q, k})
	if of[ir.Attention](s)[0].Causal {
		triangle := e.node("Slice", []string{e.shapeOf(scores), e.ints(2), e.ints(math.MaxInt), e.ints(0)})
		hidden := e.node("Expand", []string{e.scalar(d, math.Inf(-1)), triangle})
		hidden = e.node("Trilu", []string{hidden, e.scalar(tensor.Int64, 1)}, attribute{"upper", 1})
		scores = e.node("Add", []string{scores, hidden})
	}
	weights := ""
	if len(s.in) == 4 {
		scores = e.node("Add", []string{scores, e.in(s, 3)})
		weights = e.maskedSoftmax(scores, d)
	} else {
		weights = e.node("Softmax", []string{scores}, attribute{"axis", -1})
	}
	e.mixed[s.out] = e.node("MatMul", []string{weights, e.in(s, 2)})
	return "", nil
}

// maskedSoftmax writes the softmax of scores, with 0 in completely masked rows.
func (e *emitter) maskedSoftmax(scores string, d tensor.DType) string {
	most := e.node("ReduceMax", []string{scores, e.ints(-1)}, attribute{"keepdims", 1})
	fullyMasked := e.node("Equal", []string{most, e.scalar(d, math.Inf(-1))})
	zero := e.scalar(d, 0)
	weights := e.node("Softmax", []string{e.node("Where", []string{fullyMasked, zero, scores})}, attribute{"axis", -1})
	return e.node("Where", []string{fullyMasked, zero, weights})
}

func conv(e *emitter, s *step) (string, error) {
	o := of[ir.Conv2D](s)[0]
	kernel := first(e.shape(s.in[1])[2:])
	return e.node("Conv", e.inputs(s), attribute{"kernel_shape", kernel}, attribute{"strides", o.Stride[:]},
		attribute{"pads", pads(o.Padding)}, attribute{"dilations", o.Dilation[:]}, attribute{"group", o.Groups}), nil
}

// convTranspose converts the gradient of a convolution, which is a transposed one.
func convTranspose(e *emitter, s *step) (string, error) {
	o := of[ir.Conv2DInputGradient](s)
	kernel := first(e.shape(s.in[1])[2:])
	var more [2]int
	for r, op := range o {
		for i, size := range [2]int{op.H, op.W} {
			n := size - ((e.shape(s.in[0])[2+i][r]-1)*op.Stride[i] - 2*op.Padding[i] + op.Dilation[i]*(kernel[i]-1) + 1)
			if r > 0 && n != more[i] {
				return "", s.fails(ErrChanging, "its output padding differs between the calls")
			}
			more[i] = n
		}
	}
	return e.node("ConvTranspose", []string{e.in(s, 0), e.in(s, 1)}, attribute{"kernel_shape", kernel}, attribute{"strides", o[0].Stride[:]},
		attribute{"pads", pads(o[0].Padding)}, attribute{"dilations", o[0].Dilation[:]}, attribute{"group", o[0].Groups}, attribute{"output_padding", more[:]}), nil
}

// pads returns equal padding on both sides: first the values before, then those after.
func pads(padding [2]int) []int { return slices.Repeat(padding[:], 2) }

func maxPool(e *emitter, s *step) (string, error) {
	o := of[ir.MaxPool2D](s)[0]
	return e.node("MaxPool", []string{e.in(s, 0)}, attribute{"kernel_shape", o.Kernel[:]}, attribute{"strides", o.Stride[:]},
		attribute{"pads", pads(o.Padding)}, attribute{"dilations", o.Dilation[:]}), nil
}

func avgPool(e *emitter, s *step) (string, error) {
	o := of[ir.AvgPool2D](s)[0]
	return e.node("AveragePool", []string{e.in(s, 0)}, attribute{"kernel_shape", o.Kernel[:]}, attribute{"strides", o.Stride[:]},
		attribute{"pads", pads(o.Padding)}, attribute{"count_include_pad", 1}), nil
}
