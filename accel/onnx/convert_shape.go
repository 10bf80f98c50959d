package onnx

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var shapeConverters = []conversion{
	on[ir.Alias](identity),
	on[ir.Copy](identity),
	on[ir.Finite](identity),
	on[ir.Fill](fill),
	on[ir.Reshape](reshape),
	on[ir.Permute](permute),
	on[ir.Slice](slice),
	on[ir.Pad](pad),
	on[ir.Expand](expand),
	on[ir.Concat](concat),
}

func fill(e *emitter, s *step) (string, error) {
	v := &e.g.values[s.out]
	c, err := constantOf(e, s, v.dtype, scalars(s))
	if err != nil || len(v.shape) == 0 {
		return c, err
	}
	return e.expanded(s, c)
}

// expanded broadcasts a value to the shape of a step's result.
func (e *emitter) expanded(s *step, name string) (string, error) {
	to := e.shapeTensor(e.shape(s.out))
	if to == "" {
		return "", s.unknown(e.g)
	}
	return e.node("Expand", []string{name, to}), nil
}

func expand(e *emitter, s *step) (string, error) {
	if sameSizes(e.shape(s.in[0]), e.shape(s.out)) {
		return e.in(s, 0), nil
	}
	return e.expanded(s, e.in(s, 0))
}

// reshape omits a Reshape without effect, and one that makes rows for an op that accepts any
// number of axes in ONNX.
func reshape(e *emitter, s *step) (string, error) {
	from, to := e.shape(s.in[0]), e.shape(s.out)
	if y, ok := e.mixed[s.in[0]]; ok {
		e.mixed[s.out] = y
		return "", nil
	}
	if sameSizes(from, to) {
		return e.in(s, 0), nil
	}
	if n := len(to); n > 0 {
		if name, lead := e.beforeMerge(s.in[0]); name != "" && sameSizes(lead, to[:n-1]) {
			return name, nil
		}
	}
	x := e.in(s, 0)
	if axes, ok := onesAdded(from, to); ok {
		return e.node("Unsqueeze", []string{x, e.ints(axes...)}), nil
	}
	if axes, ok := onesAdded(to, from); ok {
		return e.node("Squeeze", []string{x, e.ints(axes...)}), nil
	}
	shape, empty := e.target(from, to)
	if shape == "" {
		return "", s.unknown(e.g)
	}
	if empty {
		return e.node("Reshape", []string{x, shape}, attribute{"allowzero", 1}), nil
	}
	return e.node("Reshape", []string{x, shape}), nil
}

// target returns the shape argument of a Reshape: -1 for a single size that differs, 0 for
// unchanged sizes, or a computed shape. empty says that 0 means zero elements.
func (e *emitter) target(from, to []sizes) (name string, empty bool) {
	shape := make([]int, len(to))
	var differing, unlike int
	for i, s := range to {
		shape[i] = s[0]
		switch {
		case s.fixed():
			empty = empty || s[0] == 0
		case i < len(from) && slices.Equal(from[i], s):
			differing++
			shape[i] = 0
		default:
			differing++
			unlike++
			shape[i] = -1
		}
	}
	switch {
	case empty:
		return e.shapeTensor(to), true
	case differing == 1: // also for no elements, where 0 together with -1 is invalid
		for i, s := range to {
			if !s.fixed() {
				shape[i] = -1
			}
		}
		return e.ints(shape...), false
	case unlike == 0:
		return e.ints(shape...), false
	}
	return e.shapeTensor(to), false
}

// onesAdded returns the axes of size 1 that to has in addition to from.
func onesAdded(from, to []sizes) ([]int, bool) {
	if len(to) <= len(from) {
		return nil, false
	}
	var axes []int
	k := 0
	for i, s := range to {
		missing := len(to) - i - (len(from) - k)
		switch {
		case k < len(from) && slices.Equal(from[k], s):
			k++
		case s.fixed() && s[0] == 1 && missing > 0:
			axes = append(axes, i)
		default:
			return nil, false
		}
	}
	return axes, k == len(from) && len(axes) > 0
}

// beforeMerge returns the value before its axes were merged to rows [N, D], and its shape without the
// last axis, for an op that accepts any number of axes in ONNX. It returns "" if the value is
// not such a Reshape.
func (e *emitter) beforeMerge(v int) (name string, lead []sizes) {
	s := e.maker(v)
	if s == nil || len(e.shape(v)) != 2 {
		return "", nil
	}
	if isA[ir.Reshape](s) {
		x := e.shape(s.in[0])
		if n := len(x); n > 2 && slices.Equal(x[n-1], e.shape(v)[1]) {
			return e.name(s.in[0]), x[:n-1]
		}
		return "", nil
	}
	write := e.rowWriter(s)
	if write == nil {
		return "", nil
	}
	x, lead := e.beforeMerge(s.in[0])
	if x == "" {
		return "", nil
	}
	inner := e.current
	e.current = s
	defer func() { e.current = inner }()
	return write(e, s, x), lead
}

// rowWriter returns the converter of a row op for an x with any number of axes, or nil.
func (e *emitter) rowWriter(s *step) func(e *emitter, s *step, x string) string {
	switch s.ops[0].(type) {
	case ir.Linear:
		return func(e *emitter, s *step, x string) string {
			w := e.once("Transpose", []string{e.in(s, 1)}, attribute{"perm", []int{1, 0}})
			return e.node("Add", []string{e.node("MatMul", []string{x, w}), e.in(s, 2)})
		}
	case ir.MatMul:
		if len(e.shape(s.in[1])) == 2 {
			return func(e *emitter, s *step, x string) string { return e.node("MatMul", []string{x, e.in(s, 1)}) }
		}
	case ir.Add:
		if len(e.shape(s.in[1])) == 1 {
			return func(e *emitter, s *step, x string) string { return e.node("Add", []string{x, e.in(s, 1)}) }
		}
	case ir.Int8Linear:
		return writeInt8Linear
	case ir.LayerNorm:
		return writeLayerNorm
	case ir.RMSNorm:
		return writeRMSNorm
	}
	return nil
}

func permute(e *emitter, s *step) (string, error) {
	if y, ok := e.mixed[s.in[0]]; ok { // Attention swaps the heads of its result, which those of ONNX's MatMul are already
		return y, nil
	}
	return e.node("Transpose", []string{e.in(s, 0)}, attribute{"perm", of[ir.Permute](s)[0].Perm}), nil
}

// slice converts a slice whose bounds are fixed, or at a fixed distance from the end.
func slice(e *emitter, s *step) (string, error) {
	if isA[ir.Attention](e.maker(s.in[0])) { // the slice that contains the result
		e.mixed[s.out] = e.mixed[s.in[0]]
		return "", nil
	}
	axes := each(s, func(o ir.Slice) int { return o.Axis })
	if axes[0] != axes[len(axes)-1] {
		return "", s.fails(ErrChanging, "its axis differs between the calls: %v", axes)
	}
	whole := e.shape(s.in[0])[axes[0]]
	from, to := sizes(each(s, func(o ir.Slice) int { return o.From })), sizes(each(s, func(o ir.Slice) int { return o.To }))
	if slices.Equal(to, whole) && from.fixed() && from[0] == 0 {
		return e.in(s, 0), nil
	}
	begin, end := e.bound(from, whole), e.bound(to, whole)
	if begin == "" || end == "" {
		return "", s.fails(ErrChanging, "its bounds %v to %v do not depend on the size of the input in a supported way", from, to)
	}
	return e.node("Slice", []string{e.in(s, 0), begin, end, e.ints(axes[0])}), nil
}

// bound returns a bound of a slice along an axis of this size.
func (e *emitter) bound(at, whole sizes) string {
	if slices.Equal(at, whole) {
		return e.ints(math.MaxInt)
	}
	if at.fixed() {
		return e.ints(at[0])
	}
	fromEnd := make(sizes, len(at))
	for r := range at {
		fromEnd[r] = at[r] - whole[r]
	}
	if fromEnd.fixed() {
		return e.ints(fromEnd[0])
	}
	return e.size(at)
}

func pad(e *emitter, s *step) (string, error) {
	ops := of[ir.Pad](s)
	axis := ops[0].Axis
	before, after := make(sizes, len(ops)), make(sizes, len(ops))
	for r, o := range ops {
		if o.Axis != axis {
			return "", s.fails(ErrChanging, "its axis differs between the calls: %d and %d", axis, o.Axis)
		}
		before[r] = o.Before
		after[r] = o.Size - o.Before - e.shape(s.in[0])[axis][r]
	}
	b, a := e.size(before), e.size(after)
	if b == "" || a == "" {
		return "", s.fails(ErrChanging, "its padding, %v before and %v after, does not depend on the size of the input in a supported way", before, after)
	}
	pads := e.ints(before[0], after[0])
	if !before.fixed() || !after.fixed() {
		pads = e.node("Concat", []string{b, a}, attribute{"axis", 0})
	}
	return e.node("Pad", []string{e.in(s, 0), pads, "", e.ints(axis)}), nil
}

func concat(e *emitter, s *step) (string, error) {
	in := e.inputs(s)
	y := e.node("Concat", in, attribute{"axis", of[ir.Concat](s)[0].Axis})
	if mean, variance := e.moment(s, 0), e.moment(s, 1); len(in) == 2 && mean != "" && variance != "" {
		e.moments[s.out] = [2]string{mean, variance}
	}
	return y, nil
}
