package onnx

import (
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

func runGemm(c *call) operand {
	a, b := c.tensor(0), c.tensor(1)
	alpha, beta := c.float("alpha"), c.float("beta")
	if c.integer("transA") != 0 {
		a = a.T()
	}
	var bias *tensor.Tensor
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
func (c *call) window(x *tensor.Tensor, zeros bool) (*tensor.Tensor, tensor.Window) {
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

func (c *call) optional(i int) *tensor.Tensor {
	if c.has(i) {
		return c.tensor(i)
	}
	return nil
}

func runConv(c *call) operand {
	x, w := c.window(c.automatic(c.tensor(0), c.tensor(1)), true)
	w.Groups = c.integer("group")
	return valueOf(tensor.Conv2D(x, c.tensor(1), c.optional(2), w))
}

// automatic returns images that are padded as auto_pad says, for a kernel: SAME makes the result as large as the images divided by the
// stride, which PyTorch's padding="same" is with stride 1.
func (c *call) automatic(x, kernel *tensor.Tensor) *tensor.Tensor {
	mode := c.attributes["auto_pad"].(string)
	if mode == "NOTSET" || mode == "VALID" && len(c.numbers("pads")) == 0 {
		return x
	}
	if mode != "SAME_UPPER" && mode != "SAME_LOWER" || len(c.numbers("pads")) > 0 || x.NDim() != 4 || kernel.NDim() != 4 {
		c.fails("auto_pad %s with the padding %v is not supported for a kernel of %d dimensions", mode, c.numbers("pads"), kernel.NDim())
	}
	stride := c.pair("strides", 1)
	if c.pair("dilations", 1) != [2]int{1, 1} {
		c.fails("auto_pad %s of a dilated kernel is not supported, as in onnxruntime", mode)
	}
	for i := range 2 {
		size, step := x.Size(2+i), max(stride[i], 1)
		all := max(0, ((size+step-1)/step-1)*step+kernel.Size(2+i)-size)
		before := all / 2
		if mode == "SAME_LOWER" {
			before = all - before
		}
		if all > 0 {
			x = x.Pad(2+i, before, all-before)
		}
	}
	return x
}

// runDepthToSpace moves channels to pixels: of mode CRD as nn.PixelShuffle, and of DCR, in which the channels of a pixel are neighbors.
func runDepthToSpace(c *call) operand {
	x, n := c.tensor(0), c.integer("blocksize")
	shape := x.Shape()
	if len(shape) != 4 || n < 1 || shape[1]%(n*n) != 0 {
		c.fails("images of shape %v have no blocks of %d × %d channels", shape, n, n)
	}
	out := []int{shape[0], shape[1] / (n * n), shape[2] * n, shape[3] * n}
	switch mode := c.attributes["mode"]; mode {
	case "CRD":
		x = x.Reshape(shape[0], out[1], n, n, shape[2], shape[3]).Permute(0, 1, 4, 2, 5, 3)
	case "DCR":
		x = x.Reshape(shape[0], n, n, out[1], shape[2], shape[3]).Permute(0, 3, 4, 1, 5, 2)
	default:
		c.fails("mode %v is not supported", mode)
	}
	return valueOf(x.Reshape(out...))
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

// resizing are the attributes of Resize.
var resizing = attributes{
	"antialias": only{0}, "axes": only{nil}, "coordinate_transformation_mode": "half_pixel", "cubic_coeff_a": -0.75, "exclude_outside": only{0},
	"extrapolation_value": 0.0, "keep_aspect_ratio_policy": only{"stretch"}, "mode": "nearest", "nearest_mode": "round_prefer_floor",
}

// runResize enlarges images by a whole factor, as nn.Upsample.
func runResize(c *call) operand {
	x := c.tensor(0)
	shape := x.Shape()
	if len(shape) != 4 {
		c.fails("only images [N, C, H, W] are supported")
	}
	var scales []float64
	switch {
	case c.has(2) && c.tensor(2).Numel() > 0:
		scales = c.tensor(2).Float64s()
	case c.has(3):
		for i, n := range c.ints(3) {
			scales = append(scales, float64(n)/float64(shape[min(i, 3)]))
		}
	}
	if len(scales) != 4 || scales[0] != 1 || scales[1] != 1 || scales[2] != scales[3] || scales[2] < 1 || scales[2] > 1<<10 || scales[2] != math.Trunc(scales[2]) {
		c.fails("height and width must grow by the same whole factor, but the factors are %v", scales)
	}
	n, at := int(scales[2]), c.attributes["coordinate_transformation_mode"].(string)
	switch nearest := c.attributes["nearest_mode"].(string); c.attributes["mode"] {
	case "nearest":
		if at == "asymmetric" && nearest == "floor" || at == "half_pixel" && (nearest == "round_prefer_floor" || nearest == "round_prefer_ceil") {
			return valueOf(tensor.UpsampleNearest(x, n))
		}
	case "linear":
		if slices.Contains([]string{"half_pixel", "pytorch_half_pixel"}, at) {
			return valueOf(tensor.UpsampleBilinear(x, n))
		}
	}
	c.fails("mode %v with %s, %v is not supported", c.attributes["mode"], at, c.attributes["nearest_mode"])
	return operand{}
}

// runInstanceNorm normalizes each channel of each example.
func runInstanceNorm(c *call) operand {
	x, scale, bias := c.tensor(0), c.tensor(1), c.tensor(2)
	shape := x.Shape()
	if len(shape) < 3 || scale.Numel() != shape[1] || bias.Numel() != shape[1] {
		c.fails("it takes [N, C, …] and a scale and a bias for each of the C channels")
	}
	y := tensor.LayerNorm(x.Reshape(shape[0], shape[1], -1), nil, nil, 1, c.float("epsilon"))
	return valueOf(y.Mul(scale.Reshape(1, -1, 1)).Add(bias.Reshape(1, -1, 1)).Reshape(shape...))
}

// severalOutputs runs the ops that may have several outputs. A result has at least as many values as the
// op may have outputs.
var severalOutputs = map[string]func(c *call) []operand{
	"GRU":   func(c *call) []operand { return c.recurrent(ir.GRUCell, []int{1, 0, 2}) },
	"LSTM":  func(c *call) []operand { return c.recurrent(ir.LSTMCell, []int{0, 2, 3, 1}) },
	"RNN":   runRNN,
	"Split": runSplit,
	"TopK":  runTopK,
}

func runRNN(c *call) []operand {
	cell := ir.TanhCell
	for i, name := range c.attributes["activations"].([]string) {
		at, known := map[string]ir.Cell{"tanh": ir.TanhCell, "relu": ir.ReLUCell}[strings.ToLower(name)]
		if !known || i > 0 && at != cell {
			c.fails("the activations %v are not supported, only Tanh or Relu in both directions", c.attributes["activations"])
		}
		cell = at
	}
	return c.recurrent(cell, []int{0})
}

// recurrent are the attributes of recurrent layers.
func recurrent(more attributes) attributes {
	return with(more, attributes{"direction": "forward", "hidden_size": 0, "layout": only{0}})
}

// recurrent runs a recurrent layer. gates are the gates of ONNX in the order of package tensor, which is
// PyTorch's.
func (c *call) recurrent(cell ir.Cell, gates []int) []operand {
	x, w, r := c.tensor(0), c.tensor(1), c.tensor(2)
	if x.NDim() != 3 || w.NDim() != 3 || r.NDim() != 3 {
		c.fails("inputs must be [T, N, size], and weights [directions, gates, size]")
	}
	switch {
	case c.has(4):
		c.fails("lengths of sequences are not supported")
	case cell == ir.GRUCell && c.integer("linear_before_reset") == 0:
		c.fails("only linear_before_reset 1, as in PyTorch, is supported")
	}
	reverse, known := map[string][]bool{"forward": {false}, "reverse": {true}, "bidirectional": {false, true}}[c.attributes["direction"].(string)]
	if !known || len(reverse) != w.Size(0) || len(reverse) != r.Size(0) {
		c.fails("the direction %v does not fit", c.attributes["direction"])
	}
	steps, examples, hidden := x.Size(0), x.Size(1), r.Size(2)
	if n := len(gates) * hidden; w.Size(1) != n || r.Size(1) != n || c.has(3) && !slices.Equal(c.tensor(3).Shape(), []int{len(reverse), 2 * n}) {
		c.fails("weights or biases do not have %d gates of %d hidden units", len(gates), hidden)
	}
	var y, h, last []*tensor.Tensor
	for d, back := range reverse {
		ordered := func(t *tensor.Tensor) *tensor.Tensor { // part of this direction
			t = t.Slice(0, d, d+1)
			t = t.Reshape(t.Shape()[1:]...)
			var parts []*tensor.Tensor
			for _, g := range gates {
				parts = append(parts, t.Slice(0, g*hidden, (g+1)*hidden))
			}
			return tensor.Concat(0, parts...)
		}
		initial := func(i int) *tensor.Tensor {
			if !c.has(i) {
				return nil
			}
			return c.tensor(i).Slice(0, d, d+1).Reshape(examples, hidden)
		}
		layer := tensors.Recurrence[*tensor.Tensor]{Cell: cell, Weight: ordered(r), H: initial(5), Reverse: back}
		var bias *tensor.Tensor
		if c.has(3) {
			n := len(gates) * hidden
			ofInput, ofState := ordered(c.tensor(3).Slice(1, 0, n)), ordered(c.tensor(3).Slice(1, n, 2*n))
			if bias = ofInput; cell == ir.GRUCell {
				layer.Bias = ofState
			} else {
				bias = ofInput.Add(ofState)
			}
		}
		layer.X = tensor.Linear(x, ordered(w), bias)
		if cell == ir.LSTMCell {
			layer.C = initial(6)
		}
		all, state, other := layer.Run()
		y, h = append(y, all.Reshape(steps, 1, examples, hidden)), append(h, state.Reshape(1, examples, hidden))
		if other != nil {
			last = append(last, other.Reshape(1, examples, hidden))
		}
	}
	out := []operand{valueOf(tensor.Concat(1, y...)), valueOf(tensor.Concat(0, h...))}
	if len(last) > 0 {
		out = append(out, valueOf(tensor.Concat(0, last...)))
	}
	return c.outputs(out)
}

// outputs returns the values of the outputs that the node has.
func (c *call) outputs(all []operand) []operand {
	if len(c.outs) > len(all) {
		c.fails("it has %d outputs, want at most %d", len(c.outs), len(all))
	}
	return all[:len(c.outs)]
}

func runSplit(c *call) []operand {
	shape := c.shape()
	axis, parts := c.axis(c.integer("axis"), len(shape)), len(c.outs)
	var sizes []int
	if c.has(1) {
		sizes = c.ints(1)
	} else {
		each := (shape[axis] + parts - 1) / parts
		for i := range parts {
			sizes = append(sizes, max(0, min(each, shape[axis]-i*each)))
		}
	}
	total := 0
	for _, n := range sizes {
		if total += n; n < 0 || total > shape[axis] {
			break
		}
	}
	if len(sizes) != parts || total != shape[axis] || slices.Min(sizes) < 0 {
		c.fails("the sizes %v do not divide axis %d into %d parts", sizes, axis, parts)
	}
	var out []operand
	from := 0
	for _, n := range sizes {
		if v := c.in[0]; v.known && len(shape) == 1 {
			out = append(out, integers(v.element, v.ints[from:from+n], n))
		} else {
			out = append(out, operand{t: v.tensor().Slice(axis, from, from+n), element: v.element})
		}
		from += n
	}
	return out
}

func runTopK(c *call) []operand {
	x, k := c.tensor(0), c.ints(1)
	axis := c.axis(c.integer("axis"), x.NDim())
	if len(k) != 1 || k[0] < 1 || k[0] > x.Size(axis) {
		c.fails("k is %v, but axis %d has %d elements", k, axis, x.Size(axis))
	}
	values, indices := x.TopK(k[0], axis, c.integer("largest") != 0)
	return c.outputs([]operand{valueOf(values), valueOf(indices.Cast(tensor.Int64))})
}
