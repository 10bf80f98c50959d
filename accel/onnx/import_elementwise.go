package onnx

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

func unary(f func(*tensor.Tensor) *tensor.Tensor) func(*call) operand {
	return func(c *call) operand { return valueOf(f(c.tensor(0))) }
}

// arithmetic computes with tensors, and with known integers by whole if it is not nil.
func arithmetic(f func(a, b *tensor.Tensor) *tensor.Tensor, whole func(a, b int) int) func(*call) operand {
	return func(c *call) operand {
		if whole == nil || !c.allKnown(2) {
			return valueOf(f(c.tensor(0), c.tensor(1)))
		}
		a, b := c.in[0], c.in[1]
		if len(a.ints) == 1 && len(a.shape) <= len(b.shape) {
			a = operand{ints: slices.Repeat(a.ints, len(b.ints)), shape: b.shape}
		} else if len(b.ints) == 1 && len(b.shape) <= len(a.shape) {
			b = operand{ints: slices.Repeat(b.ints, len(a.ints)), shape: a.shape}
		}
		if !slices.Equal(a.shape, b.shape) {
			c.fails("integers of these shapes are not broadcast")
		}
		out := make([]int, len(a.ints))
		for i := range out {
			out[i] = whole(a.ints[i], b.ints[i])
		}
		return integers(c.in[1].element, out, a.shape...)
	}
}

func logical(f func(a, b *tensor.Tensor) *tensor.Tensor) func(*call) operand {
	return func(c *call) operand { return mask(f(c.tensor(0), c.tensor(1))) }
}

func variadic(f func(a, b *tensor.Tensor) *tensor.Tensor) func(*call) operand {
	return func(c *call) operand {
		x := c.tensor(0)
		for i := 1; i < len(c.in); i++ {
			x = f(x, c.tensor(i))
		}
		return valueOf(x)
	}
}

// along computes along an axis.
func along(f func(*tensor.Tensor, int) *tensor.Tensor) func(*call) operand {
	return func(c *call) operand {
		return valueOf(f(c.tensor(0), c.axis(c.integer("axis"), len(c.shape()))))
	}
}

func runIdentity(c *call) operand { return c.in[0] }

// like returns a scalar of the type of x.
func (c *call) like(v float64, x *tensor.Tensor) *tensor.Tensor {
	return tensor.FromFloat64s([]float64{v}).Cast(x.DType())
}

func runClip(c *call) operand {
	x := c.tensor(0)
	if c.has(1) {
		x = x.Maximum(c.tensor(1))
	}
	if c.has(2) {
		x = x.Minimum(c.tensor(2))
	}
	return valueOf(x)
}

func runWhere(c *call) operand {
	if c.in[0].element != elementBool {
		c.fails("the condition is not a bool")
	}
	if c.in[1].known && c.in[2].known && !isFloat(c.in[1].element) { // sizes
		mask, a, b := c.tensor(0).Data(), c.in[1], c.in[2]
		if !slices.Equal(a.shape, b.shape) || !slices.Equal(a.shape, c.tensor(0).Shape()) {
			c.fails("integers of different shapes are not broadcast")
		}
		out := integers(b.element, slices.Clone(b.ints), b.shape...)
		for i, yes := range mask {
			if yes != 0 {
				out.ints[i] = a.ints[i]
			}
		}
		return out
	}
	y := tensor.Where(c.tensor(0), c.tensor(1), c.tensor(2))
	return operand{t: y, element: c.in[1].element}
}

func runCast(c *call) operand {
	x, to := c.in[0], elementType(c.integer("to"))
	d, ok := dtypes[to]
	switch {
	case !ok:
		panic(&tensor.DTypeError{Op: c.op, Hint: unsupported("a conversion to element type %d of TensorProto", int(to)).Error()})
	case x.known && (to == elementInt64 || to == elementInt32):
		for _, n := range x.ints {
			if to == elementInt32 && int(int32(n)) != n {
				c.fails("%d does not fit into 32 bits", n)
			}
		}
		return integers(to, x.ints, x.shape...)
	case x.known && isFloat(to):
		floats := make([]float64, len(x.ints))
		for i, n := range x.ints {
			floats[i] = float64(n)
		}
		return valueOf(tensor.FromFloat64s(floats, x.shape...).Cast(d))
	case to == elementBool && x.element == elementBool:
		return x
	case to == elementBool:
		return mask(x.tensor().Cast(tensor.Bool).Cast(tensor.Float32))
	}
	return valueOf(x.tensor().Cast(d))
}

func runDiv(c *call) operand {
	if c.allKnown(2) && slices.Contains(c.in[1].ints, 0) {
		c.fails("an integer is divided by 0")
	}
	return arithmetic((*tensor.Tensor).Div, func(a, b int) int { return a / b })(c)
}

// runMod returns remainders with the sign of the divisor.
func runMod(c *call) operand {
	if !c.allKnown(2) || slices.Contains(c.in[1].ints, 0) {
		c.fails("only remainders of known integers are supported, by others than 0")
	}
	return arithmetic(nil, func(a, b int) int { return (a%b + b) % b })(c)
}

func runGelu(c *call) operand {
	switch a := c.attributes["approximate"]; a {
	case "none":
		return valueOf(c.tensor(0).GELU())
	case "tanh":
		return valueOf(c.tensor(0).GELUTanh())
	default:
		c.fails("approximate %v is not supported", a)
		return operand{}
	}
}

func runHardSigmoid(c *call) operand {
	return valueOf(c.tensor(0).MulScalar(c.float("alpha")).AddScalar(c.float("beta")).Clamp(0, 1))
}

func runPRelu(c *call) operand {
	x := c.tensor(0)
	return valueOf(x.ReLU().Add(x.Minimum(c.like(0, x)).Mul(c.tensor(1))))
}

// runDequantize returns (x - zero)·scale; scale and zero have one element, or one for each index
// along an axis.
func runDequantize(c *call) operand {
	x, scale := c.in[0], c.tensor(1)
	rank, n := len(c.shape()), scale.Numel()
	shape := slices.Repeat([]int{1}, rank)
	if n != 1 {
		axis := c.axis(c.integer("axis"), rank)
		if shape[axis] = n; c.shape()[axis] != n {
			c.fails("there are %d scales along axis %d", n, axis)
		}
	}
	var floats *tensor.Tensor
	switch {
	case x.known:
		data := make([]float32, len(x.ints))
		for i, v := range x.ints {
			data[i] = float32(v)
		}
		floats = tensor.New(data, x.shape...)
	case x.quantized:
		floats = x.t
	default:
		floats = x.tensor().Cast(tensor.Float32)
	}
	if c.has(2) {
		if !c.in[2].known || len(c.in[2].ints) != n && len(c.in[2].ints) != 1 {
			c.fails("the zero points must be constants, as many as scales")
		}
		if slices.ContainsFunc(c.in[2].ints, func(z int) bool { return z != 0 }) {
			zero := integers(elementInt64, c.in[2].ints, len(c.in[2].ints))
			floats = floats.Sub(zero.tensor().Cast(tensor.Float32).Reshape(shape...))
		}
	}
	return valueOf(floats.Mul(scale.Reshape(shape...)))
}

// magic moves the digits after the point of a float32 below 2²² out of its 24 bits, so that adding and
// subtracting it rounds to the nearest integer, a half to the even one.
const magic = 3 << 22

// runQuantize returns round(x/scale) + zero, limited to 8 bits, as floats.
func runQuantize(c *call) operand {
	zero := c.in[2]
	if !zero.known || len(zero.ints) != 1 || c.tensor(1).Numel() != 1 {
		c.fails("the scale and the zero point must have one element, and the zero point must be a constant")
	}
	low, high := 0.0, 255.0
	switch zero.element {
	case elementUint8:
	case elementInt8:
		low, high = math.MinInt8, math.MaxInt8
	default:
		c.fails("the zero point must be uint8 or int8")
	}
	z := float64(zero.ints[0])
	x := c.tensor(0).Div(c.tensor(1).Reshape()).Clamp(low-z, high-z)
	x = x.AddScalar(magic).AddScalar(-magic).AddScalar(z)
	return operand{t: x, element: zero.element, quantized: true}
}
