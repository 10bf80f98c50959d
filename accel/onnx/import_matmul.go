package onnx

import (
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

func runGemm(c *call) operand {
	a, b := c.tensor(0), c.tensor(1)
	alpha, beta := c.float("alpha"), c.float("beta")
	if c.integer("transA") != 0 {
		a = a.T()
	}
	var bias *Tensor
	if c.has(2) {
		bias = c.tensor(2)
	}
	plain := c.integer("transB") != 0 && alpha == 1
	if plain && (bias == nil || beta == 1 && bias.NDim() == 1 && bias.Size(0) == b.Size(0)) {
		return valueOf(tensor.Linear(a, b, bias))
	}
	if c.integer("transB") != 0 {
		b = b.T()
	}
	y := a.MatMul(b)
	if alpha != 1 {
		y = y.MulScalar(alpha)
	}
	if bias != nil && beta != 1 {
		bias = bias.MulScalar(beta)
	}
	if bias != nil {
		y = y.Add(bias)
	}
	return valueOf(y)
}

// window returns the attributes of a convolution or of pooling, and x, padded if the padding differs
// before and after.
func (c *call) window(x *Tensor, zeros bool) (*Tensor, tensor.Window) {
	if x.NDim() != 4 {
		c.fails("only images [N, C, H, W] are supported")
	}
	w := tensor.Window{Stride: c.pair("strides", 1), Dilation: c.pair("dilations", 1)}
	pads := c.numbers("pads")
	if len(pads) == 0 {
		return x, w
	}
	if len(pads) != 4 || slices.Min(pads) < 0 {
		c.fails("pads is %v; want four numbers that are not negative", pads)
	}
	if pads[0] == pads[2] && pads[1] == pads[3] {
		w.Padding = [2]int{pads[0], pads[1]}
		return x, w
	}
	if !zeros {
		c.fails("padding %v that differs before and after is not supported", pads)
	}
	return x.Pad(2, pads[0], pads[2]).Pad(3, pads[1], pads[3]), w
}

func (c *call) optional(i int) *Tensor {
	if c.has(i) {
		return c.tensor(i)
	}
	return nil
}

func runConv(c *call) operand {
	x, w := c.window(c.tensor(0), true)
	w.Groups = c.integer("group")
	return valueOf(tensor.Conv2D(x, c.tensor(1), c.optional(2), w))
}

func runConvTranspose(c *call) operand {
	x, w := c.window(c.tensor(0), false)
	w.Groups = c.integer("group")
	return valueOf(tensor.ConvTranspose2D(x, c.tensor(1), c.optional(2), w, c.pair("output_padding", 0)))
}

func runMaxPool(c *call) operand {
	x, w := c.window(c.tensor(0), false)
	return valueOf(tensor.MaxPool2D(x, c.pair("kernel_shape", 1), w))
}

func runAveragePool(c *call) operand {
	x, w := c.window(c.tensor(0), c.integer("count_include_pad") != 0)
	if w.Padding != [2]int{} && c.integer("count_include_pad") == 0 {
		c.fails("padding that does not count is not supported")
	}
	return valueOf(tensor.AvgPool2D(x, c.pair("kernel_shape", 1), w))
}

func runGlobalAveragePool(c *call) operand {
	x := c.tensor(0)
	shape := x.Shape()
	if len(shape) < 3 {
		c.fails("want images")
	}
	var axes []int
	for i := 2; i < len(shape); i++ {
		axes = append(axes, i)
		shape[i] = 1
	}
	return valueOf(x.Mean(axes...).Reshape(shape...))
}

func runBatchNorm(c *call) operand {
	return valueOf(tensor.BatchNorm(c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(3), c.tensor(4), 0, c.float("epsilon"), false))
}

func runLayerNorm(c *call) operand {
	x := c.tensor(0)
	dims := x.NDim() - c.axis(c.integer("axis"), x.NDim())
	return valueOf(tensor.LayerNorm(x, c.tensor(1), c.optional(2), dims, c.float("epsilon")))
}
