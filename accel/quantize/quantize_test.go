package quantize_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/quantize"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// digits returns a small data set: these tests check numerics, not learning.
func digits(t *testing.T) (train, test *data.Dataset) {
	t.Helper()
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	return train.First(500), test.First(150)
}

func fitted(t *testing.T, model nn.Module, train *data.Dataset, epochs int) {
	t.Helper()
	accel.Seed(1)
	if _, err := accel.Fit(t.Context(), model, train, accel.Epochs(epochs), accel.AdamW(3e-3), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
}

// block is a custom module that calls its layers in Go.
type block struct {
	up, down *nn.DenseLayer
	norm     nn.Module
}

func (b *block) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Add(b.down.Forward(b.norm.Forward(b.up.Forward(x)).ReLU()))
}

func newBlock(width int) *block {
	return &block{nn.Dense(2 * width), nn.Dense(width), nn.BatchNorm()}
}

// models have all kinds of layers; each takes images [1, 8, 8].
var models = map[string]func() nn.Module{
	"mlp": func() nn.Module {
		return nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dropout(0.5), nn.Dense(32), nn.BatchNorm(), nn.ReLU(), nn.Dense(10))
	},
	"cnn": func() nn.Module {
		return nn.Sequential(
			nn.Conv2D(8, 3, nn.Same(), nn.NoBias()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
			nn.Conv2D(12, 3, nn.Groups(4), nn.Padding(1)), nn.BatchNorm(), nn.MaxPool2D(2), nn.ReLU(), nn.Dropout(0.1), nn.Flatten(), nn.Dense(10),
		)
	},
	"mobile": func() nn.Module {
		return nn.Sequential(
			nn.Conv2D(8, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(),
			nn.Conv2D(8, 3, nn.Groups(8), nn.Stride(2)), nn.ReLU(), nn.Conv2D(16, 1), nn.GELU(), nn.GlobalAvgPool2D(), nn.Dense(10),
		)
	},
	"residual": func() nn.Module {
		return nn.Sequential(
			nn.Conv2D(6, 3, nn.Same()), nn.ReLU(),
			nn.Residual(nn.Conv2D(6, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.Conv2D(6, 3, nn.Same(), nn.Dilation(2)), nn.BatchNorm()),
			nn.ReLU(), nn.AvgPool2D(2), nn.Sequential(nn.Flatten(), nn.Dense(10)),
		)
	},
	"own": func() nn.Module {
		return nn.Sequential(nn.Flatten(), nn.Dense(24), newBlock(24), newBlock(24), nn.Dense(10))
	},
	"sequences": func() nn.Module {
		return nn.Sequential(
			nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(x.Size(0), 8, 8) }),
			nn.Dense(16), nn.Residual(nn.LayerNorm(), nn.SelfAttention(4)), nn.Residual(nn.LayerNorm(), nn.Dense(32), nn.GELU(), nn.Dense(16)),
			nn.Flatten(), nn.Dense(10),
		)
	},
}

// norm returns the norm of values and of their difference.
func norm(a, b []float64) (size, difference float64) {
	for i := range a {
		size += a[i] * a[i]
		difference += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(size), math.Sqrt(difference)
}

func predict(t *testing.T, model nn.Module, x *tensor.Tensor) []float64 {
	t.Helper()
	y, err := accel.Predict(t.Context(), model, x)
	if err != nil {
		t.Fatal(err)
	}
	return y.Float64s()
}

func TestModels(t *testing.T) {
	train, test := digits(t)
	batch, err := test.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	for name, newModel := range models {
		t.Run(name, func(t *testing.T) {
			model := newModel()
			fitted(t, model, train, 4)
			before := predict(t, model, batch.X)
			for kind, make := range map[string]func() (*quantize.Model, error){
				"static": func() (*quantize.Model, error) {
					return quantize.Static(t.Context(), model, train, quantize.Examples(200))
				},
				"percentile": func() (*quantize.Model, error) {
					return quantize.Static(t.Context(), model, train, quantize.Percentile(99.99), quantize.Examples(64))
				},
				"mse": func() (*quantize.Model, error) {
					return quantize.Static(t.Context(), model, train, quantize.MSE(), quantize.Examples(64))
				},
				"weights": func() (*quantize.Model, error) { return quantize.WeightOnly(model) },
			} {
				small, err := make()
				if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				got := predict(t, small, batch.X)
				if size, difference := norm(before, got); !(difference <= 0.1*size) || difference == 0 {
					t.Errorf("%s: the outputs differ by %.3g of %.3g", kind, difference, size)
				}
				a, err := accel.Evaluate(t.Context(), model, test)
				if err != nil {
					t.Fatal(err)
				}
				b, err := accel.Evaluate(t.Context(), small, test)
				if err != nil {
					t.Fatal(err)
				}
				if !(b.Accuracy() > a.Accuracy()-0.03) {
					t.Errorf("%s: accuracy %v, was %v", kind, b.Accuracy(), a.Accuracy())
				}
				if after := predict(t, model, batch.X); !slices.Equal(before, after) {
					t.Errorf("%s: the float model has changed", kind)
				}
				saved(t, small, newModel, batch.X, got)
			}
		})
	}
}

// saved saves a model, loads it into a new one, and checks that the outputs are bit-identical.
func saved(t *testing.T, small *quantize.Model, newModel func() nn.Module, x *tensor.Tensor, want []float64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := small.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := quantize.Load(path, newModel())
	if err != nil {
		t.Fatal(err)
	}
	if got := predict(t, again, x); !slices.Equal(got, want) {
		t.Error("the model from the file gives other numbers")
	}
	if a, b := layers(small), layers(again); a != b {
		t.Errorf("the layers were\n%s\nand are\n%s", a, b)
	}
	second := filepath.Join(t.TempDir(), "again.safetensors")
	if err := again.Save(second); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(path)
	b, _ := os.ReadFile(second)
	if string(a) != string(b) {
		t.Error("the file is another one after reading and writing")
	}
}

func layers(m *quantize.Model) string {
	var b strings.Builder
	for _, l := range m.Layers() {
		text, _ := json.Marshal([]any{l.Name, l.Kind, l.Quantized, l.Reason, l.Bytes})
		b.Write(append(text, '\n'))
	}
	return b.String()
}

func TestLayers(t *testing.T) {
	train, _ := digits(t)
	model := models["residual"]()
	fitted(t, model, train, 1)
	small, err := quantize.Static(t.Context(), model, train, quantize.Float("2.3"))
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]quantize.Layer{}
	for _, l := range small.Layers() {
		byName[l.Name] = l
	}
	if l := byName["2.0"]; !l.Quantized || !strings.Contains(l.Kind, "BatchNorm") || !(l.SQNR > 25) || l.FloatBytes != 4*(6*6*9+6+4*6) || l.Bytes != 6*6*9+4*6+4*6+5 {
		t.Errorf("a convolution with its normalization: %+v", l)
	}
	if l := byName["2.3"]; l.Quantized || !strings.Contains(l.Reason, "Float") || l.Bytes != l.FloatBytes {
		t.Errorf("a layer that is to stay float: %+v", l)
	}
	if l := byName["2.4"]; l.Quantized || l.Reason == "" {
		t.Errorf("the normalization behind it: %+v", l)
	}
	if l := byName["5.1"]; !l.Quantized || !(l.SQNR > 25) {
		t.Errorf("the last one: %+v", l)
	}
}

func TestReport(t *testing.T) {
	train, test := digits(t)
	model := models["mlp"]()
	fitted(t, model, train, 3)
	meter, ctx := display.Measure(t.Context(), "test", 2)
	t.Cleanup(meter.End)
	small, err := quantize.Static(ctx, model, train)
	if err != nil {
		t.Fatal(err)
	}
	if done := meter.Last().Done; done < .9 || done >= 1 {
		t.Errorf("calibration: %v of a step", done)
	}
	meter.Set(1, "")
	r, err := small.Report(ctx, test)
	if done := meter.Last().Done; done < 1.9 || done >= 2 {
		t.Errorf("report: %v of two steps", done)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, save := range []func(string) error{func(p string) error { return nn.Save(p, model) }, small.Save} {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		if err := save(path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if int(info.Size()) != r.FileBytes[i] {
			t.Errorf("the file has %d bytes, the report says %d", info.Size(), r.FileBytes[i])
		}
	}
	if !(r.SizeRatio() > 2) || len(r.Seconds[0]) == 0 || len(r.Seconds[0]) != len(r.Seconds[1]) || !(r.Speedup() > 0) {
		t.Errorf("the report is %+v", r)
	}
	result, err := accel.Evaluate(t.Context(), small, test)
	if err != nil {
		t.Fatal(err)
	}
	if r.Accuracy[1] != result.Accuracy() || r.Loss[1] != result.Loss() {
		t.Errorf("loss and accuracy are %v and %v, the report says %v and %v", result.Loss(), result.Accuracy(), r.Loss[1], r.Accuracy[1])
	}
	var classes [2][]int
	for i, m := range []nn.Module{model, small} {
		y, err := accel.PredictDataset(t.Context(), m, test)
		if err != nil {
			t.Fatal(err)
		}
		classes[i] = y.ArgMax(1).Ints()
	}
	same := 0
	for i, c := range classes[0] {
		if c == classes[1][i] {
			same++
		}
	}
	if want := float64(same) / float64(test.Len()); math.Abs(r.Agreement-want) > 1e-12 {
		t.Errorf("the same class for %v of the examples, want %v", r.Agreement, want)
	}
	for i := 1; i < len(r.Layers); i++ {
		if r.Layers[i].Quantized && r.Layers[i].SQNR < r.Layers[i-1].SQNR {
			t.Error("the worst layer is not the first")
		}
	}
	b := r.Report().MIMEBundle()
	for _, word := range []string{"accuracy", "same class", "times smaller", "times as fast", "dB", "8-bit matrix multiplication by "} {
		if !strings.Contains(b["text/plain"].(string), word) || !strings.Contains(b["text/html"].(string), word) {
			t.Errorf("the report does not say %q:\n%s", word, r)
		}
	}
}

// TestConcurrently runs a quantized model and the float model concurrently; each must give the same
// result as alone.
func TestConcurrently(t *testing.T) {
	train, test := digits(t)
	model := models["residual"]()
	fitted(t, model, train, 1)
	small, err := quantize.Static(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	nn.Train(model, false)
	batch, err := test.First(40).Tensors()
	if err != nil {
		t.Fatal(err)
	}
	apply := func(m nn.Module) (y []float64) {
		tensor.NoGrad(func() { y = m.Forward(batch.X).Float64s() })
		return y
	}
	both := []nn.Module{model, small}
	var want [2][]float64
	for i, m := range both {
		want[i] = apply(m)
	}
	if slices.Equal(want[0], want[1]) {
		t.Fatal("both give the same")
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for range 5 {
				if !slices.Equal(apply(both[i%2]), want[i%2]) {
					t.Errorf("model %d gives other numbers beside others", i%2)
				}
			}
		})
	}
	all.Wait()
}

// TestWrongInput checks that errors name the layer as the user wrote it.
func TestWrongInput(t *testing.T) {
	train, _ := digits(t)
	model := nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(10))
	fitted(t, model, train, 1)
	small, err := quantize.Static(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	var layer *nn.LayerError
	if _, err := accel.Predict(t.Context(), small, tensor.Zeros(2, 1, 7, 8)); !errors.As(err, &layer) || layer.Path != "1" || layer.Layer != "Dense(32)" {
		t.Errorf("an input of another size: %v", err)
	}
}
