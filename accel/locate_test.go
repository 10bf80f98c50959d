package accel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestErrorsNameTheExample uses data sets in which example 5 is wrong for the model.
func TestErrorsNameTheExample(t *testing.T) {
	identity := nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x })
	tests := []struct {
		name    string
		token   float32 // in example 5
		label   int     // of example 5
		model   func() nn.Module
		want    string
		predict bool // Predict and PredictDataset fail too
	}{
		{"token", 7, 0, func() nn.Module {
			return nn.Sequential(identity, nn.Embedding(5, 3), nn.Flatten(), nn.BatchNorm(), nn.Dense(2))
		}, "layer 1, Embedding(5, 3): IndexSelect: index 7 is outside 0..4", true},
		{"class", 1, 3, func() nn.Module { return nn.Sequential(nn.Dense(3), nn.BatchNorm()) },
			"CrossEntropy: class 3 is outside 0..2: the logits have 3 classes, and the first one is class 0", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, y := make([][]float32, 8), make([]int, 8)
			for i := range x {
				x[i] = []float32{1, float32(i % 3)}
			}
			x[5][1], y[5] = tt.token, tt.label
			set, err := data.FromSlices(x, y)
			if err != nil {
				t.Fatal(err)
			}
			set = set.Named("rows")
			on, err := set.OnDevice()
			if err != nil {
				t.Fatal(err)
			}
			errs := map[string]error{
				"Fit on the device": second(accel.Fit(t.Context(), tt.model(), on, accel.Epochs(1), accel.BatchSize(4), accel.Quiet())),
				"Fit":               second(accel.Fit(t.Context(), tt.model(), set, accel.Epochs(1), accel.BatchSize(4), accel.Quiet())),
				"Evaluate":          second(accel.Evaluate(t.Context(), tt.model(), set)),
			}
			if tt.predict {
				errs["PredictDataset"] = second(accel.PredictDataset(t.Context(), tt.model(), set, accel.BatchSize(4)))
			}
			for call, err := range errs {
				var example *data.ExampleError
				var index *tensor.IndexError
				if !errors.As(err, &example) || !errors.As(err, &index) || example.Example != 5 || example.Dataset != "rows" || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: %v, want example 5 and %q", call, err, tt.want)
				}
			}
		})
	}
	_, err := accel.Predict(t.Context(), nn.Embedding(3, 2), tensor.FromInts([]int{0, 1, 2, 3}, 4, 1), accel.BatchSize(3))
	if err == nil || !strings.Contains(err.Error(), "example 3 of the input: IndexSelect: index 3 is outside 0..2") {
		t.Errorf("Predict: %v", err)
	}
}

// On a device, which reports an index that is out of range later, the error names the layer that has the index, or none.
func TestErrorsOnADeviceNameTheLayer(t *testing.T) {
	device := accel.Device()
	if err := accel.SetDevice("simulated"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := accel.SetDevice(device); err != nil {
			t.Error(err)
		}
	}()
	x := make([][]float32, 8)
	for i := range x {
		x[i] = []float32{1, float32(i % 3)}
	}
	x[5][1] = 9
	set, err := data.FromSlices(x, make([]int, 8))
	if err != nil {
		t.Fatal(err)
	}
	reads := nn.Lambda(func(x *nn.Tensor) *nn.Tensor { x.Sum().Item(); return x })
	for _, size := range []int{1, 4, 8} {
		model := nn.Sequential(nn.Sequential(nn.Embedding(5, 4), nn.Flatten()), reads, nn.Dense(5))
		for call, err := range map[string]error{
			"Fit":      second(accel.Fit(t.Context(), model, set, accel.Epochs(1), accel.BatchSize(size), accel.Quiet())),
			"Evaluate": second(accel.Evaluate(t.Context(), model, set)),
		} {
			var layer *nn.LayerError
			if err == nil || !strings.Contains(err.Error(), "IndexSelect: index 9") || errors.As(err, &layer) && layer.Path != "0.0" {
				t.Errorf("%s, batches of %d: %v", call, size, err)
			}
			var example *data.ExampleError
			if (size == 8 || call == "Evaluate") && (layer == nil || !errors.As(err, &example) || example.Example != 5) {
				t.Errorf("%s, batches of %d: %v, want example 5 and the layer", call, size, err)
			}
		}
	}
}

// TestPositionsAreTooFew requires the example of a sequence that is longer than a table of positions.
func TestPositionsAreTooFew(t *testing.T) {
	set, err := data.FromSlices([][]float32{{1, 2, 3}, {2, 3, 4}}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	model := nn.Sequential(nn.Embedding(5, 4), nn.PositionEmbedding(2, 4), nn.Flatten(), nn.Dense(2))
	var length *nn.LengthError
	var example *data.ExampleError
	err = second(accel.Evaluate(t.Context(), model, set))
	if !errors.As(err, &length) || !errors.As(err, &example) || length.Length != 3 || length.Longest != 2 {
		t.Errorf("got %v, want a LengthError of an example", err)
	}
}

func TestNilModel(t *testing.T) {
	var model *nn.SequentialLayer
	if _, err := accel.Predict(t.Context(), model, tensor.Zeros(1, 2)); err == nil || !strings.Contains(err.Error(), "the model is nil: create it first") {
		t.Error(err)
	}
}
