package quantize_test

import (
	"context"
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
	_ "github.com/quernlab/quern/accel/simulated" // "simulated"
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
				"weights": func() (*quantize.Model, error) { return quantize.Weights(model) },
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

// saved writes a model, reads it into a new one, and checks that the outputs are bit-identical.
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
		t.Errorf("a convolution with its normalisation: %+v", l)
	}
	if l := byName["2.3"]; l.Quantized || !strings.Contains(l.Reason, "Float") || l.Bytes != l.FloatBytes {
		t.Errorf("a layer that is to stay float: %+v", l)
	}
	if l := byName["2.4"]; l.Quantized || l.Reason == "" {
		t.Errorf("the normalisation behind it: %+v", l)
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
	if !(r.Smaller() > 2) || len(r.Seconds[0]) == 0 || len(r.Seconds[0]) != len(r.Seconds[1]) || !(r.Speedup() > 0) {
		t.Errorf("the report is %+v", r)
	}
	result, err := accel.Evaluate(t.Context(), small, test)
	if err != nil {
		t.Fatal(err)
	}
	if r.Accuracy[1] != result.Accuracy() || r.Loss[1] != result.Loss() {
		t.Errorf("loss and accuracy are %v and %v, the report says %v and %v", result.Loss(), result.Accuracy(), r.Loss[1], r.Accuracy[1])
	}
	for i := 1; i < len(r.Layers); i++ {
		if r.Layers[i].Quantized && r.Layers[i].SQNR < r.Layers[i-1].SQNR {
			t.Error("the worst layer is not the first")
		}
	}
	b := r.MIMEBundle()
	for _, word := range []string{"accuracy", "times smaller", "times as fast", "dB", "products of bytes by "} {
		if !strings.Contains(b["text/plain"].(string), word) || !strings.Contains(b["text/html"].(string), word) {
			t.Errorf("the report does not say %q:\n%s", word, r)
		}
	}
}

func TestRefused(t *testing.T) {
	train, test := digits(t)
	model := models["mlp"]()
	fitted(t, model, train, 1)
	ctx := t.Context()
	if _, err := quantize.Static(ctx, model, nil); !errors.Is(err, quantize.ErrNoExamples) {
		t.Errorf("without a set: %v", err)
	}
	if _, err := quantize.Static(ctx, model, train.First(0)); !errors.Is(err, quantize.ErrNoExamples) {
		t.Errorf("without examples: %v", err)
	}
	if _, err := quantize.Static(ctx, nil, train); err == nil {
		t.Error("without a model")
	}
	var unknown *quantize.UnknownLayerError
	if _, err := quantize.Static(ctx, model, train, quantize.Float("9")); !errors.As(err, &unknown) || unknown.Name != "9" || !slices.Equal(unknown.Known, []string{"1", "4", "7"}) {
		t.Errorf("an unknown layer: %v", err)
	}
	if _, err := quantize.Static(ctx, nn.Sequential(nn.Flatten(), nn.LayerNorm()), train); !errors.Is(err, quantize.ErrNothing) {
		t.Errorf("nothing to quantise: %v", err)
	}
	for _, o := range []quantize.Option{quantize.Percentile(20), quantize.Percentile(math.NaN()), quantize.Examples(0)} {
		if _, err := quantize.Static(ctx, model, train, o); err == nil {
			t.Errorf("%v is taken", o)
		}
	}
	var unfinished *quantize.LayerError
	if _, err := quantize.Weights(models["mlp"]()); !errors.As(err, &unfinished) {
		t.Errorf("weights that are not there: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := quantize.Static(done, model, train); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
	other, err := train.Reshape(64)
	if err != nil {
		t.Fatal(err)
	}
	var shape *accel.ShapeError
	if _, err := quantize.Static(ctx, models["cnn"](), other); !errors.As(err, &shape) {
		t.Errorf("examples of another shape: %v", err)
	}
	_ = test
}

func TestNaN(t *testing.T) {
	train, _ := digits(t)
	var number *tensor.NonFiniteError
	var at *quantize.LayerError
	broken := nn.Sequential(nn.Flatten(), nn.Dense(4), nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(math.Inf(1)) }), nn.Dense(10))
	if _, err := quantize.Static(t.Context(), broken, train); !errors.As(err, &at) || at.Name != "3" || !errors.As(err, &number) {
		t.Errorf("activations that are not finite: %v", err)
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(10))
	fitted(t, model, train, 1)
	small, err := quantize.Static(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 64)
	x[5] = float32(math.NaN())
	if y, err := accel.Predict(t.Context(), small, tensor.New(x, 1, 1, 8, 8)); err == nil {
		func() {
			defer nn.Catch(&err)
			y.Data()
		}()
		if !errors.As(err, &number) {
			t.Errorf("an input that is not a number: %v", err)
		}
	} else if !errors.As(err, &number) {
		t.Errorf("an input that is not a number: %v", err)
	}
	model.Layers()[1].(*nn.DenseLayer).Weight.SetData(slices.Repeat([]float32{float32(math.NaN())}, 640))
	if _, err := quantize.Weights(model); !errors.As(err, &at) || at.Name != "1" || !errors.As(err, &number) {
		t.Errorf("weights that are not numbers: %v", err)
	}
}

func TestChangedModel(t *testing.T) {
	train, test := digits(t)
	for name, change := range map[string]func(model *nn.SequentialLayer){
		"training": func(model *nn.SequentialLayer) { fitted(t, model, train, 1) },
		"data": func(model *nn.SequentialLayer) {
			w := model.Layers()[1].(*nn.DenseLayer).Weight
			v := w.Data()
			v[3]++
			w.SetData(v)
		},
		"another weight": func(model *nn.SequentialLayer) { model.Layers()[1].(*nn.DenseLayer).Weight = tensor.Zeros(3, 64) },
	} {
		model := nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(10))
		fitted(t, model, train, 1)
		small, err := quantize.Static(t.Context(), model, train)
		if err != nil {
			t.Fatal(err)
		}
		weight := model.Layers()[1].(*nn.DenseLayer).Weight
		weight.SetData(weight.Data()) // equal values are not a change
		if _, err := accel.Evaluate(t.Context(), small, test); err != nil {
			t.Errorf("%s: before: %v", name, err)
		}
		change(model)
		var changed *quantize.ChangedError
		if _, err := accel.Evaluate(t.Context(), small, test); !errors.As(err, &changed) {
			t.Errorf("%s: %v", name, err)
		}
		if err := small.Save(filepath.Join(t.TempDir(), "x.safetensors")); !errors.As(err, &changed) {
			t.Errorf("%s: saved: %v", name, err)
		}
	}
}

// TestCannotBeTrained checks that training a quantized model is an error.
func TestCannotBeTrained(t *testing.T) {
	train, _ := digits(t)
	model := models["mlp"]()
	fitted(t, model, train, 1)
	small, err := quantize.Static(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(nn.Parameters(small)); n != 0 {
		t.Errorf("a quantised model has %d parameters", n)
	}
	if _, err := accel.Fit(t.Context(), small, train, accel.Epochs(1), accel.Quiet()); err == nil {
		t.Error("it is trained")
	} else {
		t.Log(err)
	}
}

func TestAnotherDevice(t *testing.T) {
	train, _ := digits(t)
	model := nn.Sequential(nn.Flatten(), nn.Dense(10))
	fitted(t, model, train, 1)
	small, err := quantize.Static(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	if err := accel.SetDevice("simulated"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := accel.SetDevice("cpu"); err != nil {
			t.Fatal(err)
		}
	}()
	var device *quantize.DeviceError
	if _, err := accel.Predict(t.Context(), small, tensor.Zeros(1, 1, 8, 8)); !errors.As(err, &device) {
		t.Errorf("predicted: %v", err)
	}
	if _, err := quantize.Static(t.Context(), model, train); !errors.As(err, &device) {
		t.Errorf("quantised: %v", err)
	}
}

// TestConcurrently applies a quantized model and the float model at the same time; each gives
// the same result as alone.
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

// basic is a custom block that calls its layers in Go. With leak, an output is also used by
// others than the normalization after it.
type basic struct {
	first, second *nn.Conv2DLayer
	one, two      nn.Module
	leak          bool
}

func (b *basic) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := b.first.Forward(x)
	z := b.one.Forward(y).ReLU()
	z = b.two.Forward(b.second.Forward(z))
	if b.leak {
		z = z.Add(y)
	}
	return x.Add(z).ReLU()
}

// TestFoldedInGo checks that normalizations are folded exactly where Go code passes them the
// output of a layer.
func TestFoldedInGo(t *testing.T) {
	train, test := digits(t)
	batch, err := test.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range []bool{false, true} {
		newModel := func() nn.Module {
			conv := func() *nn.Conv2DLayer { return nn.Conv2D(8, 3, nn.Same()) }
			return nn.Sequential(conv(), &basic{conv(), conv(), nn.BatchNorm(), nn.BatchNorm(), leak}, nn.Flatten(), nn.Dense(10))
		}
		model := newModel()
		fitted(t, model, train, 2)
		before := predict(t, model, batch.X)
		small, err := quantize.Static(t.Context(), model, train)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]string{}
		for _, l := range small.Layers() {
			kinds[l.Name] = l.Kind
		}
		if _, float := kinds["1.one"]; float != leak || strings.Contains(kinds["1.first"], "BatchNorm") == leak || !strings.Contains(kinds["1.second"], "BatchNorm") {
			t.Errorf("leak %v: the layers are %v", leak, kinds)
		}
		got := predict(t, small, batch.X)
		if size, difference := norm(before, got); !(difference <= 0.05*size) {
			t.Errorf("leak %v: the outputs differ by %.3g of %.3g", leak, difference, size)
		}
		saved(t, small, newModel, batch.X, got)
	}
}

// tied is a token model whose last layer shares the weight of another.
type tied struct{ a, b, out *nn.DenseLayer }

func newTied() nn.Module {
	m := &tied{nn.Dense(64), nn.Dense(64), nn.Dense(10)}
	m.a.Forward(tensor.Zeros(1, 64))
	m.b.Forward(tensor.Zeros(1, 64))
	m.b.Weight = m.a.Weight
	return m
}

func (m *tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.out.Forward(m.b.Forward(m.a.Forward(x.Flatten(1)).ReLU()))
}

// TestSharedWeights has two layers that share a weight.
func TestSharedWeights(t *testing.T) {
	train, test := digits(t)
	batch, err := test.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	model := newTied()
	fitted(t, model, train, 2)
	for _, make := range []func() (*quantize.Model, error){
		func() (*quantize.Model, error) { return quantize.Static(t.Context(), model, train) },
		func() (*quantize.Model, error) {
			return quantize.Static(t.Context(), model, train, quantize.Float("a"))
		},
		func() (*quantize.Model, error) { return quantize.Weights(model) },
	} {
		small, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(small.Layers()); n != 3 {
			t.Errorf("there are %d layers: %v", n, small.Layers())
		}
		saved(t, small, newTied, batch.X, predict(t, small, batch.X))
	}
}

// TestSequences quantizes a token model, which generates the same text.
func TestSequences(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog. ", 15)
	vocab := data.Chars(text)
	tokens, err := vocab.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.Windows(tokens, 16, 5)
	if err != nil {
		t.Fatal(err)
	}
	newModel := func() nn.Module {
		return nn.Sequential(
			nn.Embedding(vocab.Size(), 24), nn.PositionEmbedding(16, 24),
			nn.Residual(nn.LayerNorm(), nn.SelfAttention(3, nn.Causal())),
			nn.Residual(nn.LayerNorm(), nn.Dense(96), nn.GELU(), nn.Dense(24)),
			nn.LayerNorm(), nn.Dense(vocab.Size()),
		)
	}
	model := newModel()
	accel.Seed(1)
	if _, err := accel.Fit(t.Context(), model, set, accel.Steps(60), accel.AdamW(5e-3), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	float, err := accel.Evaluate(t.Context(), model, set)
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() (*quantize.Model, error){
		"static": func() (*quantize.Model, error) {
			return quantize.Static(t.Context(), model, set, quantize.Examples(64))
		},
		"weights": func() (*quantize.Model, error) { return quantize.Weights(model) },
	} {
		small, err := make()
		if err != nil {
			t.Fatal(err)
		}
		got, err := accel.Evaluate(t.Context(), small, set)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got.Loss()-float.Loss()) < 0.05*float.Loss()+0.02) {
			t.Errorf("%s: the loss is %v, was %v", name, got.Loss(), float.Loss())
		}
		if _, err := small.Report(t.Context(), set.First(64)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		batch, err := set.First(5).Tensors()
		if err != nil {
			t.Fatal(err)
		}
		saved(t, small, newModel, batch.X, predict(t, small, batch.X))
	}
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
