package onnx

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

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
