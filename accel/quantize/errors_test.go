package quantize_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/quantize"
	_ "github.com/quernlab/quern/accel/simulated" // "simulated"
	"github.com/quernlab/quern/accel/tensor"
)

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
		t.Errorf("nothing to quantize: %v", err)
	}
	for _, o := range []quantize.Option{quantize.Percentile(20), quantize.Percentile(math.NaN()), quantize.Examples(0)} {
		if _, err := quantize.Static(ctx, model, train, o); err == nil {
			t.Errorf("%v is taken", o)
		}
	}
	var unfinished *quantize.LayerError
	if _, err := quantize.WeightOnly(models["mlp"]()); !errors.As(err, &unfinished) {
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
	var shape *tensor.ShapeError
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
	if _, err := quantize.WeightOnly(model); !errors.As(err, &at) || at.Name != "1" || !errors.As(err, &number) {
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
		t.Errorf("a quantized model has %d parameters", n)
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
		t.Errorf("quantized: %v", err)
	}
}

// TestOtherOptions gives functions of the package options that only others of them take.
func TestOtherOptions(t *testing.T) {
	for want, f := range map[string]func() error{
		`quantize: WeightOnly does not take MSE(): its option is Float`:       func() error { _, err := quantize.WeightOnly(nn.Dense(1), quantize.MSE()); return err },
		`quantize: WeightOnly does not take Examples(3): its option is Float`: func() error { _, err := quantize.WeightOnly(nn.Dense(1), quantize.Examples(3)); return err },
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}
