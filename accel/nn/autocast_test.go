package nn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/golden"
)

// TestAutocastTrainingEqualsPyTorch compares the losses of ten steps of a GPT block in bfloat16
// with PyTorch's. With AVX-512 they agree to 1e-7; on other CPUs, which add float32 values in
// another order, a value may round to the neighboring bfloat16. Without rounding the losses
// differ by 1e-3.
func TestAutocastTrainingEqualsPyTorch(t *testing.T) {
	var g struct {
		Training struct {
			X, Y, Shape []int
			Parameters  map[string]goldenTensor
			Losses      []float64
		}
	}
	read(t, "../tensor/testdata/autocast.json", &g)
	c := g.Training
	farthest := func(d tensor.DType) float64 {
		const width = 8
		model := nn.Sequential(
			nn.Embedding(7, width),
			nn.Residual(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal())),
			nn.Residual(nn.LayerNorm(), nn.Dense(4*width), nn.GELU(), nn.Dense(width)),
			nn.Dense(7))
		start := map[string]*nn.Tensor{}
		for name, p := range asTensors(c.Parameters) {
			start[strings.Replace(name, ".layers", "", 1)] = p
		}
		if err := nn.SetState(model, start); err != nil {
			t.Fatal(err)
		}
		x, y := tensor.FromInts(c.X, c.Shape...), tensor.FromInts(c.Y, c.Shape...)
		opt := optim.SGD(model, 0.1)
		far := 0.0
		for _, want := range c.Losses {
			opt.ZeroGrad()
			var loss *nn.Tensor
			tensor.Autocast(d, func() { loss = nn.CrossEntropy(model.Forward(x), y) })
			loss.Backward()
			opt.Step()
			far = max(far, math.Abs(loss.Item()-want))
		}
		return far
	}
	rounded, exact := farthest(tensor.BFloat16), farthest(tensor.Float32)
	t.Logf("losses are at most %.2g from PyTorch's, in float32 %.2g", rounded, exact)
	if !(rounded < 3e-4) || !(exact > 5e-4) {
		t.Errorf("losses are %v from PyTorch's, in float32 %v", rounded, exact)
	}
}

// TestSummaryOfAutocast checks the column of types.
func TestSummaryOfAutocast(t *testing.T) {
	model := nn.Sequential(nn.Conv2D(2, 3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.LayerNorm(), nn.Dense(3), nn.Dropout(0.5))
	var table *nn.SummaryTable
	tensor.Autocast(tensor.Float16, func() { table = nn.Summary(model, 1, 6, 6) })
	if table.Err != nil {
		t.Fatal(table.Err)
	}
	want := []tensor.DType{tensor.Float16, tensor.Float16, tensor.Float16, tensor.Float16, tensor.Float32, tensor.Float16, tensor.Float16}
	for i, r := range table.Rows {
		if r.DType != want[i] {
			t.Errorf("%s gives %v, want %v", r.Layer, r.DType, want[i])
		}
	}
	if text := nn.Summary(model, 1, 6, 6).String(); strings.Contains(text, "computes in") {
		t.Errorf("types outside of Autocast:\n%s", text)
	}
	for _, p := range nn.Parameters(model) {
		if p.DType() != tensor.Float32 {
			t.Errorf("a parameter is %v", p.DType())
		}
	}
}

// TestSummaryOfTypes compares the column of types for each precision with a golden file.
func TestSummaryOfTypes(t *testing.T) {
	model := nn.Sequential(
		nn.Embedding(7, 32),
		nn.Residual(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal())),
		nn.Residual(nn.LayerNorm(), nn.Dense(64), nn.GELU(), nn.Dense(32)),
		nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.MatMul(x.Permute(0, 2, 1)).Softmax(2).MatMul(x) }),
		nn.Dense(7))
	var text strings.Builder
	for _, p := range []struct {
		name string
		cast func(f func())
	}{
		{"float32", func(f func()) { f() }},
		{"bfloat16", func(f func()) { tensor.Autocast(tensor.BFloat16, f) }},
		{"FP8", tensor.AutocastFP8},
	} {
		text.WriteString(p.name + "\n\n")
		p.cast(func() { text.WriteString(nn.Summary(model, 5).String() + "\n\n") })
	}
	golden.Check(t, "types.txt", []byte(text.String()))
}
