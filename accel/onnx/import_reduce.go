package onnx

import (
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// reduce computes over several axes at once.
func reduce(f func(t *tensor.Tensor, axes ...int) *tensor.Tensor) func(*call) operand {
	return func(c *call) operand {
		x := c.tensor(0)
		axes := c.axes(x.NDim())
		return c.reduced(f(x, axes...), axes)
	}
}

// reduced returns the result of a reduction, with sizes of 1 for the axes if keepdims is set.
func (c *call) reduced(y *tensor.Tensor, axes []int) operand {
	if c.integer("keepdims") == 0 {
		return valueOf(y)
	}
	shape := slices.Clone(c.shape())
	for i := range shape {
		if len(axes) == 0 || slices.Contains(axes, i) {
			shape[i] = 1
		}
	}
	return valueOf(y.Reshape(shape...))
}

func runArgMax(c *call) operand {
	x := c.tensor(0)
	axis := c.axis(c.integer("axis"), x.NDim())
	return c.reduced(x.ArgMax(axis).Cast(tensor.Int64), []int{axis})
}

func runCumSum(c *call) operand {
	axis := c.ints(1)
	if len(axis) != 1 {
		c.fails("the axis must be one number")
	}
	x, a := c.tensor(0), c.axis(axis[0], len(c.shape()))
	if c.integer("reverse") != 0 { // from the end
		return valueOf(x.Flip(a).CumSum(a).Flip(a))
	}
	return valueOf(x.CumSum(a))
}

func runGather(c *call) operand {
	data, at := c.in[0], c.in[1]
	axis := c.axis(c.integer("axis"), len(c.shape()))
	if at.known {
		at = integers(elementInt64, slices.Clone(at.ints), at.shape...)
		for i, n := range at.ints {
			at.ints[i] = c.index(n, c.shape()[axis])
		}
	}
	if data.known && len(data.shape) == 1 && at.known {
		out := make([]int, len(at.ints))
		for i, n := range at.ints {
			out[i] = data.ints[n]
		}
		return integers(data.element, out, at.shape...)
	}
	x, index := data.tensor(), at.tensor()
	if axis != 0 {
		perm := []int{axis}
		for i := range x.NDim() {
			if i != axis {
				perm = append(perm, i)
			}
		}
		x = x.Permute(perm...)
	}
	inner, rank := x.Shape()[1:], index.NDim()
	y := x.IndexSelect(index.Reshape(index.Numel())).Reshape(append(index.Shape(), inner...)...)
	if axis != 0 { // the axes of the index, which come first, belong behind those before the axis
		var perm []int
		for i := range axis {
			perm = append(perm, rank+i)
		}
		for i := range rank {
			perm = append(perm, i)
		}
		for i := axis; i < len(inner); i++ {
			perm = append(perm, rank+i)
		}
		y = y.Permute(perm...)
	}
	return operand{t: y, element: data.element}
}

// index returns an index below n; negative ones count from the end.
func (c *call) index(i, n int) int {
	if i < -n || i >= n {
		panic(&tensor.IndexError{Op: c.op, Index: i, Element: -1, Size: n})
	}
	if i < 0 {
		i += n
	}
	return i
}

// runGatherElements selects elements along an axis.
func runGatherElements(c *call) operand {
	x := c.tensor(0)
	return operand{t: x.Gather(c.axis(c.integer("axis"), x.NDim()), c.tensor(1)), element: c.in[0].element}
}

// runOneHot writes the second of two values at the index, and the first elsewhere.
func runOneHot(c *call) operand {
	x, depth, values := c.tensor(0), c.ints(1), c.tensor(2)
	if len(depth) != 1 || depth[0] < 1 || values.Numel() != 2 {
		c.fails("want one depth and two values")
	}
	if axis := c.integer("axis"); axis != -1 && axis != x.NDim() {
		c.fails("only a new last axis is supported")
	}
	off, on := values.Slice(0, 0, 1), values.Slice(0, 1, 2)
	return operand{t: tensor.Where(x.OneHot(depth[0]), on, off), element: c.in[2].element}
}

// runScatterND adds rows to those of the first axis.
func runScatterND(c *call) operand {
	x, index, rows := c.tensor(0), c.tensor(1), c.tensor(2)
	n := index.NDim()
	if n == 0 || index.Size(n-1) != 1 || x.NDim() == 0 {
		c.fails("only indices of the first axis are supported")
	}
	return valueOf(x.Add(rows.IndexAdd(index.Reshape(index.Shape()[:n-1]...), x.Size(0))))
}
