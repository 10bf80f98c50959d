package onnx_test

import (
	"context"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/quantize"
	"github.com/quernlab/quern/accel/tensor"
)

// ofIntegers returns a quantized model, calibrated with x.
func ofIntegers(model nn.Module, x *tensor.Tensor, options ...quantize.Option) nn.Module {
	classes := make([]int, x.Size(0))
	classes[0] = 1
	set, err := data.FromTensors(x, tensor.FromInts(classes, len(classes)))
	if err != nil {
		panic(err)
	}
	nn.Train(model, true)
	model.Forward(x) // updates the running statistics of BatchNorm
	q, err := quantize.Static(context.Background(), model, set, options...)
	if err != nil {
		panic(err)
	}
	return q
}

// gated is a model that is not an nn.Sequential: its layers are quantized one by one.
type gated struct{ in, up, down nn.Module }

func (b *gated) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = b.in.Forward(x)
	return x.Add(b.down.Forward(b.up.Forward(x).GELU()))
}

// quantizedRows tests quantized models. Where a value is half-way between two integers, onnxruntime
// may round differently: the tolerance is one scale step of the second-to-last layer.
func quantizedRows() []parity {
	images := randn(11, 64, 2, 12, 10)
	cnn := nn.Sequential(
		nn.Conv2D(8, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Conv2D(12, 3, nn.Groups(2), nn.Stride(2), nn.Padding(2), nn.Dilation(2)), nn.ReLU(), nn.MaxPool2D(3, nn.Stride(1), nn.Padding(1)), nn.Dropout(0.1),
		nn.Flatten(), nn.Dense(16), nn.ReLU(), nn.Dense(5))
	depthwise := nn.Sequential(nn.Conv2D(2, 3, nn.Groups(2), nn.NoBias()), nn.BatchNorm(), nn.Conv2D(6, 1), nn.ReLU(), nn.GlobalAvgPool2D(), nn.Dense(3, nn.NoBias()))
	sequences := randn(12, 64, 5, 6)
	far := nn.Dense(4)
	far.Forward(randn(13, 2, 6))
	tensor.NoGrad(func() { far.Bias.Assign(far.Bias.AddScalar(3)); far.Weight.Assign(far.Weight.MulScalar(1e-9)) })
	return []parity{
		{name: "integers of images", model: ofIntegers(cnn, images), examples: one(images.Slice(0, 0, 8)), tolerance: 0.02},
		{name: "integers without a bias", model: ofIntegers(depthwise, images), examples: one(images.Slice(0, 0, 8)), tolerance: 0.02},
		{name: "integers of rows", model: ofIntegers(nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(16), nn.ReLU(), nn.Dense(3)), sequences.Slice(1, 0, 1).Reshape(64, 6)),
			examples: one(sequences.Slice(1, 0, 1).Reshape(64, 6).Slice(0, 0, 8)), tolerance: 0.02},
		{name: "integers of sequences", model: ofIntegers(nn.Sequential(nn.Dense(8), nn.ReLU(), nn.Dense(6), nn.LayerNorm(), nn.SelfAttention(2, nn.Causal()), nn.Dense(3)), sequences),
			examples: one(sequences.Slice(0, 0, 8)), options: []onnx.Option{onnx.Axes(0, "batch", "time")}, tolerance: 0.02},
		{name: "integers of a struct", model: ofIntegers(&gated{nn.Dense(6), nn.Dense(24), nn.Dense(6)}, sequences), examples: one(sequences.Slice(0, 0, 8)), tolerance: 0.02},
		{name: "integers beside floats", model: ofIntegers(nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(3)), sequences, quantize.Float("2")), examples: one(sequences.Slice(0, 0, 8)), tolerance: 0.02},
		{name: "a bias beyond 32 bits", model: ofIntegers(nn.Sequential(far, nn.ReLU(), nn.Dense(3)), sequences), examples: one(sequences.Slice(0, 0, 8)), tolerance: 0.02},
	}
}

// TestQuantizedNodes checks that each matrix multiplication has 8-bit inputs, and an int32 bias if
// its sums fit.
func TestQuantizedNodes(t *testing.T) {
	for _, p := range quantizedRows() {
		m, err := onnx.Build(p.model, p.examples[0], p.options...)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		text := m.String()
		for _, want := range []string{" = QuantizeLinear(", " = DequantizeLinear("} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: there is no %q in\n%s", p.name, want, text)
			}
		}
		first := strings.Contains(text, "DequantizeLinear(/0/bias, /0/bias_step, ")
		switch p.name {
		case "a bias beyond 32 bits":
			if first || !strings.Contains(text, "/0/bias)") {
				t.Errorf("the first bias is no float in\n%s", text)
			}
		case "integers of a struct": // its layers have no path
		default:
			if !first {
				t.Errorf("%s: the first bias is not of 32 bits in\n%s", p.name, text)
			}
		}
	}
}
