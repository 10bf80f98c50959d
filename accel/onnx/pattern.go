package onnx

import (
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// pattern describes a constant whose size depends on that of an input: one value everywhere, or
// the numbers 0, 1, 2 and so on along an axis.
type pattern struct {
	value float64
	count bool // along axis
	axis  int
}

// findPattern finds the pattern of constant i in all runs.
func findPattern(runs []*tensors.Graph[*tensor.Tensor], i int) (pattern, bool) {
	p := pattern{axis: -1}
	known := false
	for _, run := range runs {
		c := run.Values[i].Constant
		data := c.Float64s()
		if len(data) > 0 && !known {
			p.value, known = data[0], true
		}
		if at := counting(data, c.Shape()); at >= 0 {
			p.count, p.axis = true, at
		}
	}
	for _, run := range runs {
		c := run.Values[i].Constant
		data, shape := c.Float64s(), c.Shape()
		switch {
		case !p.count && !uniform(data, p.value):
			return pattern{}, false
		case p.count && shape[p.axis] <= 1 && uniform(data, 0): // a count of one
		case p.count && counting(data, shape) != p.axis:
			return pattern{}, false
		}
	}
	return p, known
}

// uniform reports whether all elements are equal. NaN never is.
func uniform(data []float64, value float64) bool {
	for _, v := range data {
		if v != value {
			return false
		}
	}
	return true
}

// counting returns the axis along which the elements are 0, 1, 2 and so on, and constant along
// all others; -1 if there is none.
func counting(data []float64, shape []int) int {
	inner := len(data)
	for at, n := range shape {
		if n == 0 {
			return -1
		}
		inner /= n
		right := n > 1
		for k, v := range data {
			if v != float64(k/inner%n) {
				right = false
				break
			}
		}
		if right {
			return at
		}
	}
	return -1
}
