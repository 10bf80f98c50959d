package onnx

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

func runConstant(c *call) operand {
	w := c.attributes["value"].(weight)
	if w.element == 0 {
		c.fails("it has no value")
	}
	return constantValue(w)
}

func runConstantOfShape(c *call) operand {
	shape := slices.Clone(c.ints(0))
	n, err := elementCount(shape)
	const most = 1 << 24
	if err != nil || n > most {
		c.fails("the shape is %v", shape)
	}
	w := c.attributes["value"].(weight)
	if w.element == 0 {
		return valueOf(tensor.Full(0, shape...))
	}
	v := constantValue(w)
	switch {
	case v.known && len(v.ints) == 1:
		return integers(v.element, slices.Repeat(v.ints, n), shape...)
	case v.known || v.t.Numel() != 1:
		c.fails("the value must be one number")
	}
	return operand{t: v.t.Reshape().Expand(shape...), element: v.element}
}

func runShape(c *call) operand {
	shape := c.shape()
	from, to := bounds(c.integer("start"), c.integer("end"), len(shape))
	shape = shape[from:to]
	return integers(elementInt64, slices.Clone(shape), len(shape))
}

func runSize(c *call) operand { return integers(elementInt64, []int{ir.Len(c.shape())}) }

// bounds returns the bounds of a slice of n elements: negative ones count from the end.
func bounds(from, to, n int) (int, int) {
	limit := func(at int) int {
		if at < 0 {
			at += n
		}
		return max(0, min(at, n))
	}
	from = limit(from)
	return from, max(from, limit(to))
}

// reshaped returns a value with another shape of as many elements.
func (c *call) reshaped(v operand, shape []int) operand {
	if v.known {
		return integers(v.element, v.ints, shape...)
	}
	v.t = v.t.Reshape(shape...)
	return v
}

func runReshape(c *call) operand {
	old, shape := c.shape(), slices.Clone(c.ints(1))
	total, rest, open := ir.Len(old), 1, -1
	for i, n := range shape {
		switch {
		case n == 0 && c.integer("allowzero") == 0:
			if i >= len(old) {
				c.fails("there is no axis %d to copy for shape %v", i, shape)
			}
			shape[i] = old[i]
		case n == -1 && open < 0:
			open = i
			continue
		case n < 0:
			c.fails("the new shape is %v", shape)
		}
		rest *= shape[i]
	}
	if open >= 0 {
		if rest == 0 || total%rest != 0 {
			c.fails("-1 in the new shape %v has no value", shape)
		}
		shape[open] = total / rest
		rest = total
	}
	if rest != total {
		c.fails("the new shape %v has another number of elements", shape)
	}
	return c.reshaped(c.in[0], shape)
}

func runFlatten(c *call) operand {
	shape := c.shape()
	at := c.integer("axis")
	if at < -len(shape) || at > len(shape) {
		c.fails("there is no axis %d", at)
	}
	if at < 0 {
		at += len(shape)
	}
	return c.reshaped(c.in[0], []int{ir.Len(shape[:at]), ir.Len(shape[at:])})
}

func runSqueeze(c *call) operand {
	shape := c.shape()
	axes := c.axes(len(shape))
	var left []int
	for i, n := range shape {
		remove := n == 1
		if c.has(1) {
			remove = slices.Contains(axes, i)
		}
		if remove && n != 1 {
			c.fails("axis %d does not have size 1", i)
		}
		if !remove {
			left = append(left, n)
		}
	}
	return c.reshaped(c.in[0], left)
}

func runUnsqueeze(c *call) operand {
	shape := slices.Clone(c.shape())
	for _, axis := range c.axes(len(shape) + len(c.ints(1))) {
		shape = slices.Insert(shape, axis, 1)
	}
	return c.reshaped(c.in[0], shape)
}

func runTranspose(c *call) operand {
	perm, rank := slices.Clone(c.numbers("perm")), len(c.shape())
	if perm == nil {
		for i := range rank {
			perm = append(perm, rank-1-i)
		}
	}
	return operand{t: c.tensor(0).Permute(perm...), element: c.in[0].element}
}

func runConcat(c *call) operand {
	rank := len(c.shape())
	axis := c.axis(c.integer("axis"), rank)
	if rank == 1 && c.allKnown(len(c.in)) {
		var all []int
		for _, v := range c.in {
			all = append(all, v.ints...)
		}
		return integers(c.in[0].element, all, len(all))
	}
	var parts []*tensor.Tensor
	for i := range c.in {
		parts = append(parts, c.tensor(i))
	}
	return operand{t: tensor.Concat(axis, parts...), element: c.in[0].element}
}

func runSlice(c *call) operand {
	v, rank := c.in[0], len(c.shape())
	from, to := c.ints(1), c.ints(2)
	axes := c.listedAxes(3, len(from))
	if len(to) != len(from) || len(axes) != len(from) {
		c.fails("it has %d starts, %d ends and %d axes", len(from), len(to), len(axes))
	}
	if c.has(4) && slices.ContainsFunc(c.ints(4), func(step int) bool { return step != 1 }) {
		c.fails("steps %v are not supported, only 1", c.ints(4))
	}
	for i, axis := range axes {
		axis = c.axis(axis, rank)
		if v.known && rank == 1 {
			a, b := bounds(from[i], to[i], len(v.ints))
			v = integers(v.element, v.ints[a:b], b-a)
			continue
		}
		t := v.tensor()
		a, b := bounds(from[i], to[i], t.Size(axis))
		v = operand{t: t.Slice(axis, a, b), element: v.element}
	}
	return v
}

// listedAxes returns the axes that an optional input lists, the first n without it.
func (c *call) listedAxes(input, n int) []int {
	if c.has(input) {
		return c.ints(input)
	}
	axes := make([]int, n)
	for i := range axes {
		axes[i] = i
	}
	return axes
}

func runPad(c *call) operand {
	x, pads := c.tensor(0), c.ints(1)
	if c.has(2) && c.tensor(2).Item() != 0 {
		c.fails("only padding with 0 is supported")
	}
	axes := c.listedAxes(3, x.NDim())
	if len(pads) != 2*len(axes) {
		c.fails("it has %d paddings for %d axes", len(pads), len(axes))
	}
	for i, axis := range axes {
		before, after := pads[i], pads[i+len(axes)]
		if before < 0 || after < 0 {
			c.fails("negative padding is not supported")
		}
		if before != 0 || after != 0 {
			x = x.Pad(c.axis(axis, x.NDim()), before, after)
		}
	}
	return operand{t: x, element: c.in[0].element}
}

func runExpand(c *call) operand {
	x, shape := c.tensor(0), c.ints(1)
	old := x.Shape()
	rank := max(len(old), len(shape))
	old = append(slices.Repeat([]int{1}, rank-len(old)), old...)
	to := append(slices.Repeat([]int{1}, rank-len(shape)), shape...)
	for i, n := range old {
		switch {
		case to[i] == 1:
			to[i] = n
		case n != 1 && n != to[i]:
			c.fails("axis %d cannot be expanded to %d", i, to[i])
		}
	}
	if _, err := elementCount(to); err != nil {
		c.fails("the new shape is %v", to)
	}
	return operand{t: x.Reshape(old...).Expand(to...), element: c.in[0].element}
}

func runRange(c *call) operand {
	if !c.allKnown(3) || len(c.in[0].ints) != 1 || len(c.in[1].ints) != 1 || len(c.in[2].ints) != 1 {
		c.fails("only ranges of known integers are supported")
	}
	from, to, step := c.in[0].ints[0], c.in[1].ints[0], c.in[2].ints[0]
	const most = 1 << 24
	if step == 0 || math.Abs(float64(to)-float64(from)) > most*math.Abs(float64(step)) {
		c.fails("the range %d, %d, … below %d is empty or too long", from, from+step, to)
	}
	list := []int{}
	for n := from; step > 0 && n < to || step < 0 && n > to; n += step {
		list = append(list, n)
	}
	return integers(elementInt64, list, len(list))
}

func runTrilu(c *call) operand {
	k := 0
	if c.has(1) {
		if list := c.ints(1); len(list) == 1 {
			k = list[0]
		} else {
			c.fails("the diagonal must be one number")
		}
	}
	if c.integer("upper") == 0 {
		return valueOf(c.tensor(0).Tril(k))
	}
	return valueOf(c.tensor(0).Triu(k))
}
