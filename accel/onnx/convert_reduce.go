package onnx

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/tensor"
)

var reduceConverters = []conversion{
	on[ir.Sum](sum),
	on[ir.ArgMax](argMax),
	on[ir.CrossEntropy](crossEntropy),
}

// findSum finds the sums that compute a value: their input, the axes, and the number of elements
// that each sum adds. added is nil if the value is not a sum.
func (e *emitter) findSum(v int) (added sizes, x int, axes []int) {
	x = v
	left := []int{} // axes of x that remain in v, from the last to the first
	for i := range e.shape(v) {
		left = append(left, i)
	}
	for s := e.maker(x); isA[ir.Sum](s); s = e.maker(x) {
		o := of[ir.Sum](s)[0]
		x = s.in[0]
		for i, a := range left {
			if a >= o.From {
				left[i] = a + o.To - o.From
			}
		}
	}
	if x == v {
		return nil, v, nil
	}
	added = make(sizes, len(e.g.plan.runs))
	for r := range added {
		added[r] = 1
	}
	for i, s := range e.shape(x) {
		if !slices.Contains(left, i) {
			axes = append(axes, i)
			for r := range added {
				added[r] *= s[r]
			}
		}
	}
	return added, x, axes
}

// sum converts one sum or several nested ones.
func sum(e *emitter, s *step) (string, error) {
	_, x, axes := e.findSum(s.out)
	if len(axes) == 0 {
		return e.name(x), nil
	}
	return e.node("ReduceSum", []string{e.name(x), e.ints(axes...)}, attribute{"keepdims", 0}), nil
}

func argMax(e *emitter, s *step) (string, error) {
	axis := of[ir.ArgMax](s)[0].Axis
	return e.cast(e.node("ArgMax", []string{e.in(s, 0)}, attribute{"axis", axis}, attribute{"keepdims", 0}), elementInt32), nil
}

// crossEntropy writes the mean negative log-likelihood of the labels, with 0 for those that are left out.
func crossEntropy(e *emitter, s *step) (string, error) {
	p := e.node("LogSoftmax", []string{e.in(s, 0)}, attribute{"axis", -1})
	labels := e.node("Unsqueeze", []string{e.in(s, 1), e.ints(1)})
	left := ""
	if o := of[ir.CrossEntropy](s)[0]; o.Masked {
		left = e.node("Equal", []string{labels, e.scalar(tensor.Int32, float64(o.Ignored))})
		labels = e.node("Where", []string{left, e.scalar(tensor.Float64, 0), e.cast(labels, elementDouble)}) // Import computes with floats
		labels = e.cast(labels, elementInt32)
	}
	chosen := e.node("GatherElements", []string{p, labels}, attribute{"axis", 1})
	if left != "" {
		chosen = e.node("Where", []string{left, e.scalar(e.dtype(s), 0), chosen})
	}
	return e.node("Neg", []string{e.node("ReduceMean", []string{chosen}, attribute{"keepdims", 0})}), nil
}
