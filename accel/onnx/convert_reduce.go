package onnx

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var reduceConverters = []conversion{
	on[ir.Sum](sum),
	on[ir.ArgMax](argMax),
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
		if o.Mean {
			break
		}
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

// sum converts one sum or several nested ones, or a mean.
func sum(e *emitter, s *step) (string, error) {
	if o := of[ir.Sum](s)[0]; o.Mean { // of a composition: a mean of package tensor is a sum and a factor
		var axes []int
		for a := o.From; a < o.To; a++ {
			axes = append(axes, a)
		}
		if len(axes) == 0 {
			return e.in(s, 0), nil
		}
		return e.node("ReduceMean", []string{e.in(s, 0), e.ints(axes...)}, attribute{"keepdims", 0}), nil
	}
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
