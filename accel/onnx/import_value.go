package onnx

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// operand is a value of an imported model while it runs.
type operand struct {
	t       *tensor.Tensor
	element elementType // its type in ONNX; the tensor of a bool is a mask of float32
	// quantized means that t has 8-bit integers as float32.
	quantized bool

	// known means that these are the values, integers such as sizes; t may then be nil.
	known bool
	ints  []int
	shape []int
}

// tensorValue returns a tensor as a value.
func tensorValue(t *tensor.Tensor, e elementType) operand {
	if e == elementBool && t.DType() == tensor.Bool {
		t = t.Cast(tensor.Float32)
	}
	return operand{t: t, element: e}
}

// of returns a tensor as a value of the ONNX type of its elements.
func valueOf(t *tensor.Tensor) operand { return operand{t: t, element: elements[t.DType()]} }

// mask returns a mask of floats as a bool.
func mask(t *tensor.Tensor) operand { return operand{t: t, element: elementBool} }

// integers returns known values.
func integers(e elementType, ints []int, shape ...int) operand {
	return operand{element: e, known: true, ints: ints, shape: shape}
}

// tensor returns the value as a tensor; it panics with a *tensor.DTypeError if it has none.
func (v operand) tensor() *tensor.Tensor {
	if v.quantized || v.element == elementInt8 {
		panic(&tensor.DTypeError{Op: "onnx", Hint: "8-bit values are supported only as inputs of DequantizeLinear"})
	}
	if v.t != nil {
		return v.t
	}
	var raw []byte
	for _, n := range v.ints {
		raw = appendWord(raw, uint64(int64(n)), elementSizes[v.element])
	}
	return tensor.FromRaw(dtypes[v.element], raw, v.shape...)
}

// result returns the value as an output of the model.
func (v operand) result() *tensor.Tensor {
	t := v.tensor()
	if v.element == elementBool {
		return t.Cast(tensor.Bool)
	}
	return t
}

// integerAt returns an element of raw data.
func integerAt(raw []byte, e elementType, i int) int {
	switch e {
	case elementInt64:
		return int(int64(binary.LittleEndian.Uint64(raw[8*i:])))
	case elementInt32:
		return int(int32(binary.LittleEndian.Uint32(raw[4*i:])))
	case elementInt8:
		return int(int8(raw[i]))
	}
	return int(raw[i])
}

// call is a node with the values of its inputs.
type call struct {
	*node
	in []operand
}

// do returns the outputs of the node.
func (c *call) do() []operand {
	if several := severalOutputs[c.op]; several != nil {
		return several(c)
	}
	return slices.Repeat([]operand{c.run(c)}, len(c.outs))
}

// fails ends the run with an error about the inputs of the node.
func (c *call) fails(format string, arguments ...any) {
	var shapes [][]int
	for _, v := range c.in {
		switch {
		case v.known:
			shapes = append(shapes, v.shape)
		case v.t != nil:
			shapes = append(shapes, v.t.Shape())
		}
	}
	panic(&tensor.ShapeError{Op: c.op, Shapes: shapes, Hint: fmt.Sprintf(format, arguments...)})
}

// has reports whether an optional input is there.
func (c *call) has(i int) bool { return i < len(c.in) && (c.in[i].t != nil || c.in[i].known) }

// tensor returns an input.
func (c *call) tensor(i int) *tensor.Tensor { return c.in[i].tensor() }

// shape returns the shape of the first input.
func (c *call) shape() []int {
	if c.in[0].known {
		return c.in[0].shape
	}
	return c.in[0].t.Shape()
}

// ints returns an input of integers. Those that depend on elements of tensors are computed.
func (c *call) ints(i int) []int {
	if v := c.in[i]; v.known {
		return v.ints
	}
	return c.tensor(i).Ints()
}

// allKnown reports whether the first n inputs are known integers.
func (c *call) allKnown(n int) bool {
	return !slices.ContainsFunc(c.in[:n], func(v operand) bool { return !v.known })
}

func (c *call) integer(name string) int   { return c.attributes[name].(int) }
func (c *call) float(name string) float64 { return c.attributes[name].(float64) }
func (c *call) numbers(name string) []int { return c.attributes[name].([]int) }
func (c *call) pair(name string, otherwise int) [2]int {
	all := c.numbers(name)
	if len(all) == 0 {
		return [2]int{otherwise, otherwise}
	}
	if len(all) != 2 {
		c.fails("%s is %v; only images of two dimensions are supported", name, all)
	}
	return [2]int(all)
}

// axis returns an axis of a value with rank dimensions, which may count from the end.
func (c *call) axis(at, rank int) int {
	if at < -rank || at >= rank {
		c.fails("there is no axis %d", at)
	}
	if at < 0 {
		at += rank
	}
	return at
}

// axes returns the axes that the second input lists, or an attribute in older files; none if there is
// neither. They are sorted.
func (c *call) axes(rank int) []int {
	var list []int
	if c.has(1) {
		list = c.ints(1)
	} else if old, ok := c.attributes["axes"].([]int); ok {
		list = old
	}
	var axes []int
	for _, a := range list {
		axes = append(axes, c.axis(a, rank))
	}
	slices.Sort(axes)
	if len(slices.Compact(slices.Clone(axes))) != len(axes) {
		c.fails("the axes %v repeat one", list)
	}
	return axes
}
