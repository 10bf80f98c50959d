package onnx

import "github.com/quernlab/quern/accel/internal/ir"

var indexConverters = []conversion{
	on[ir.IndexSelect](indexSelect),
	on[ir.Index](index),
	on[ir.OneHot](oneHot),
	on[ir.IndexAdd](indexAdd),
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

// indexAdd adds rows to rows of zeros.
func indexAdd(e *emitter, s *step) (string, error) {
	zeros, err := e.expanded(s, e.scalar(e.dtype(s), 0))
	if err != nil {
		return "", err
	}
	at := e.node("Unsqueeze", []string{e.cast(e.in(s, 1), elementInt64), e.ints(-1)})
	return e.node("ScatterND", []string{zeros, at, e.in(s, 0)}, attribute{"reduction", "add"}), nil
}
