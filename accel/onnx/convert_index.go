package onnx

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

var indexConverters = []conversion{
	on[ir.IndexSelect](indexSelect),
	on[ir.Index](index),
	on[ir.OneHot](oneHot),
	on[ir.IndexAdd](indexAdd),
	on[ir.ArgSort](argSort),
}

func indexSelect(e *emitter, s *step) (string, error) {
	return e.node("Gather", []string{e.in(s, 0), e.in(s, 1)}, attribute{"axis", 0}), nil
}

func index(e *emitter, s *step) (string, error) { return e.cast(e.in(s, 0), elementInt32), nil }

func oneHot(e *emitter, s *step) (string, error) {
	depth := e.size(each(s, func(o ir.OneHot) int { return o.Classes }))
	if depth == "" {
		return "", s.unknown(e.g)
	}
	values := e.cast(e.ints(0, 1), elementFloat)
	return e.node("OneHot", []string{e.cast(e.in(s, 0), elementInt64), depth, values}, attribute{"axis", -1}), nil
}

// argSort finds the indices along the last axis, and adds the position of the first element of each row.
func argSort(e *emitter, s *step) (string, error) {
	ops, shape := of[ir.ArgSort](s), e.shape(s.in[0])
	largest := 0
	if ops[0].Descending {
		largest = 1
	}
	for _, o := range ops {
		if o.Descending != ops[0].Descending {
			return "", s.fails(ErrChanging, "its order differs between the calls")
		}
	}
	last := len(shape) - 1
	k := e.size(each(s, func(o ir.ArgSort) int { return o.K }))
	begins := append(slices.Clone(shape[:last]), slices.Repeat(sizes{1}, len(shape[last])))
	n, column := e.size(shape[last]), e.shapeTensor(begins)
	if k == "" || n == "" || column == "" {
		return "", s.unknown(e.g)
	}
	if slices.Contains(shape[last], 0) {
		return "", s.fails(ErrUnsupported, "the axis has size 0")
	}
	x := e.in(s, 0)
	if d := e.dtype(s); d == tensor.Float16 || d == tensor.BFloat16 { // onnxruntime sorts no 16-bit floats
		x = e.cast(x, elementFloat)
	}
	along := e.node("TopK", []string{x, k}, attribute{"axis", last}, attribute{"largest", largest})
	if last == 0 {
		return e.cast(along, elementInt32), nil
	}
	zero, step := e.scalar(tensor.Int64, 0), e.node("Squeeze", []string{n, e.ints(0)})
	begin := e.node("Range", []string{zero, e.node("Size", []string{x}), step})
	begin = e.cast(e.node("Reshape", []string{begin, column}), elementDouble) // Import computes with floats
	return e.cast(e.node("Add", []string{e.cast(along, elementDouble), begin}), elementInt32), nil
}

// indexAdd adds rows to rows of zeros.
func indexAdd(e *emitter, s *step) (string, error) {
	zeros, err := e.expanded(s, e.scalar(e.dtype(s), 0))
	if err != nil {
		return "", err
	}
	at := e.node("Unsqueeze", []string{e.cast(e.in(s, 1), elementInt64), e.ints(-1)})
	return e.node("ScatterND", []string{zeros, at, e.in(s, 0)}, attribute{"reduction", "add"}), nil
}
