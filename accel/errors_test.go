package accel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

func TestOptionsAreChecked(t *testing.T) {
	train, _ := digits(t)
	tests := []struct {
		option accel.Option
		want   string
	}{
		{accel.Epochs(0), "accel: Epochs(0): the number must be at least 1"},
		{accel.Steps(-1), "accel: Steps(-1): the number must be at least 1"},
		{accel.BatchSize(0), "accel: BatchSize(0): the number must be at least 1"},
		{accel.Accumulate(0), "accel: Accumulate(0): the number must be at least 1"},
		{accel.ValidateEvery(0), "accel: ValidateEvery(0): the number must be at least 1"},
		{accel.ValidateEvery(3), "accel: ValidateEvery(3) needs a data set to validate with: add Validate(set)"},
		{accel.Workers(-1), "accel: Workers(-1): the number must be at least 0"},
		{accel.EarlyStopping(0), "accel: EarlyStopping(0): the number must be at least 1"},
		{accel.EarlyStopping(2), "accel: EarlyStopping(2) needs a validation loss: add Validate(set)"},
		{accel.AdamW(0), "accel: AdamW(0): the learning rate must be positive and finite"},
		{accel.SGD(-1, 0), "accel: SGD(-1, 0): the learning rate must be positive and finite"},
		{accel.SGD(1, 1), "accel: SGD(1, 1): momentum must be in [0, 1)"},
		{accel.ClipGradNorm(0), "accel: ClipGradNorm(0): the limit must be positive"},
		{accel.WeightDecay(-1), "accel: WeightDecay(-1): the weight decay must be finite and at least 0"},
		{accel.Muon(0), "accel: Muon(0): the learning rate must be positive and finite"},
		{accel.Nesterov(0.1, -1), "accel: Nesterov(0.1, -1): momentum must be in [0, 1)"},
		{accel.ReduceLROnPlateau(3, 2), "accel: ReduceLROnPlateau(3, 2): the patience must be at least 0 and the factor strictly between 0 and 1"},
		{accel.ReduceLROnPlateau(3, 0.5), "accel: ReduceLROnPlateau needs a validation loss: add Validate(set)"},
		{accel.SaveEvery(3), "accel: SaveEvery(3) needs a file to save to: add Resume(path)"},
		{accel.Validate(nil), "accel: Validate(nil): the data set is nil: check the error returned where it was created"},
		{accel.Validate(train.First(0)), "accel: Validate(digits, train): the data set is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.option.String(), func(t *testing.T) {
			run, err := accel.Fit(t.Context(), mlp(4), train, tt.option)
			if err == nil || err.Error() != tt.want {
				t.Errorf("want %q\n got  %v", tt.want, err)
			}
			if run == nil || run.String() != "no steps" {
				t.Errorf("run %v", run)
			}
		})
	}
	if run, err := accel.Fit(t.Context(), mlp(4), train, accel.Option{}, accel.Steps(1), accel.Quiet()); err != nil || len(run.Options) != 2 {
		t.Errorf("the zero option: %v, %v", run, err)
	}
}

func TestOptionsPrintAsGo(t *testing.T) {
	_, test := digits(t)
	for want, o := range map[string]accel.Option{
		"Epochs(5)":                 accel.Epochs(5),
		"AdamW(0.002)":              accel.AdamW(2e-3),
		"SGD(0.1, 0.9)":             accel.SGD(0.1, 0.9),
		"WarmupCosine(100)":         accel.WarmupCosine(100),
		"OneCycleLR()":              accel.OneCycleLR(),
		"Adam(0.1)":                 accel.Adam(0.1),
		"LAMB(0.1)":                 accel.LAMB(0.1),
		"RMSprop(0.1)":              accel.RMSprop(0.1),
		"Adagrad(0.1)":              accel.Adagrad(0.1),
		"Lion(0.1)":                 accel.Lion(0.1),
		"NAdam(0.1)":                accel.NAdam(0.1),
		"CosineAnnealingLR(0.1)":    accel.CosineAnnealingLR(0.1),
		"ExponentialLR(0.9)":        accel.ExponentialLR(0.9),
		"MultiStepLR(0.1, 30, 60)":  accel.MultiStepLR(0.1, 30, 60),
		"LinearLR(0.25, 1, 5)":      accel.LinearLR(0.25, 1, 5),
		"ClipGradValue(0.5)":        accel.ClipGradValue(0.5),
		"RecordGradNorm()":          accel.RecordGradNorm(),
		"Live(GradNorm)":            accel.Live(accel.GradNorm),
		"Nesterov(0.1, 0.9)":        accel.Nesterov(0.1, 0.9),
		"ReduceLROnPlateau(2, 0.5)": accel.ReduceLROnPlateau(2, 0.5),
		`Resume("a.safetensors")`:   accel.Resume("a.safetensors"),
		"StepLR(30, 0.1)":           accel.StepLR(30, 0.1),
		"Validate(digits, test)":    accel.Validate(test),
		"Live()":                    accel.Live(),
		"Live(Loss, GPUUtil)":       accel.Live(accel.Loss, accel.GPUUtil),
		"Live(Accuracy, Metric(9))": accel.Live(accel.Accuracy, accel.Metric(9)),
		"Workers(3)":                accel.Workers(3),
		"ClipGradNorm(1)":           accel.ClipGradNorm(1),
	} {
		if o.String() != want {
			t.Errorf("want %q, got %q", want, o)
		}
	}
}

func TestNothingToTrain(t *testing.T) {
	train, _ := digits(t)
	ctx := t.Context()
	for want, err := range map[string]error{
		"the model is nil":                    second(accel.Fit(ctx, nil, train)),
		"the training set is nil":             second(accel.Fit(ctx, mlp(4), nil)),
		"digits, train is empty":              second(accel.Fit(ctx, mlp(4), train.First(0))),
		"Evaluate: the model is nil":          second(accel.Evaluate(ctx, nil, train)),
		"Evaluate: the data set is nil":       second(accel.Evaluate(ctx, mlp(4), nil)),
		"Evaluate: digits, train is":          second(accel.Evaluate(ctx, mlp(4), train.First(0))),
		"Predict: the model is nil":           second(accel.Predict(ctx, nil, tensor.Zeros(1))),
		"Predict: the input is nil":           second(accel.Predict(ctx, mlp(4), nil)),
		"PredictDataset: the model is nil":    second(accel.PredictDataset(ctx, nil, train)),
		"PredictDataset: the data set is nil": second(accel.PredictDataset(ctx, mlp(4), nil)),
		"PredictDataset: digits, train is":    second(accel.PredictDataset(ctx, mlp(4), train.First(0))),
		"the input is a scalar":               second(accel.Predict(ctx, mlp(4), tensor.Zeros())),
		"requires a gradient":                 second(accel.Fit(ctx, nn.Sequential(nn.Flatten()), train, accel.Quiet())),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestShapeErrorsNameTheLayer(t *testing.T) {
	train, _ := digits(t)
	wrong := nn.Dense(9)
	wrong.Forward(tensor.Zeros(1, 3))
	tests := []struct {
		name  string
		model nn.Module
		want  string
	}{
		{"a layer for another input", nn.Sequential(nn.Flatten(), nn.Dense(5), wrong), "layer 2, Dense(9)"},
		{"not flattened", nn.Sequential(nn.Dense(5), nn.ReLU()), " 1 8 5] and ["},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, err := range []error{
				second(accel.Fit(t.Context(), tt.model, train, accel.Quiet())),
				second(accel.Evaluate(t.Context(), tt.model, train)),
			} {
				var shape *tensor.ShapeError
				if !errors.As(err, &shape) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("want a ShapeError with %q, got %v", tt.want, err)
				}
			}
		})
	}
	// Too few outputs: a label is out of range.
	few := nn.Sequential(nn.Flatten(), nn.Dense(7))
	var index *tensor.IndexError
	if err := second(accel.Fit(t.Context(), few, train, accel.Quiet())); !errors.As(err, &index) {
		t.Errorf("want an IndexError, got %v", err)
	}
	var state *tensor.StateError
	nothing := func(_, _ *tensor.Tensor) *tensor.Tensor { return nil }
	if err := second(accel.Fit(t.Context(), mlp(4), train, accel.Minimize(nothing), accel.Quiet())); !errors.As(err, &state) || !strings.Contains(err.Error(), "the loss has returned nil") {
		t.Errorf("a loss that returns nil: %v", err)
	}
	// The runtime still works after these errors.
	if err := second(accel.Fit(t.Context(), mlp(4), train, accel.Steps(2), accel.Quiet())); err != nil {
		t.Error(err)
	}
}

// TestPanicsOfTheModelPass verifies that a panic in Forward reaches the caller, after Fit has
// stopped what it started.
func TestPanicsOfTheModelPass(t *testing.T) {
	train, _ := digits(t)
	shown := capture(t)
	func() {
		defer func() {
			if p := recover(); p != "a bug" {
				t.Errorf("recovered %v", p)
			}
		}()
		bug := nn.Lambda(func(*nn.Tensor) *nn.Tensor { panic("a bug") })
		accel.Fit(t.Context(), bug, train, accel.Live(accel.Loss, accel.GPUUtil))
	}()
	if len(*shown) == 0 {
		t.Error("nothing was shown")
	}
	if err := second(accel.Fit(t.Context(), mlp(4), train, accel.Steps(1), accel.Quiet())); err != nil {
		t.Error(err)
	}
}

func TestOneFitAtATime(t *testing.T) {
	train, _ := digits(t)
	var inner error
	model := nn.Sequential(mlp(4), nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		inner = second(accel.Fit(t.Context(), mlp(4), train))
		return x
	}))
	if _, err := accel.Fit(t.Context(), model, train, accel.Steps(1), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(inner, accel.ErrBusy) {
		t.Errorf("a Fit in a Fit: %v", inner)
	}
}

// TestModelOfAStruct trains a struct with unexported fields, with a second model that is
// evaluated during the training.
func TestModelOfAStruct(t *testing.T) {
	train, test := digits(t)
	accel.Seed(1)
	m := &student{body: nn.Sequential(nn.Flatten(), nn.Dense(32)), head: nn.Dense(10)}
	run, err := accel.Fit(t.Context(), m, train, accel.Epochs(4), accel.AdamW(0.01), accel.Validate(test), accel.Quiet())
	must(t, run, err)
	if !(run.Accuracy() > 0.85) || len(nn.Parameters(m)) != 4 {
		t.Errorf("accuracy %v, %d parameters", run.Accuracy(), len(nn.Parameters(m)))
	}
}

type student struct {
	body nn.Module
	head *nn.DenseLayer
}

func (s *student) Forward(x *tensor.Tensor) *tensor.Tensor {
	return s.head.Forward(s.body.Forward(x).ReLU())
}

// TestNilResults checks that functions of the user which return nil, and options without their argument, are errors that say so.
func TestNilResults(t *testing.T) {
	train, _ := digits(t)
	for want, option := range map[string]accel.Option{
		`Optimizer("mine", make) has returned nil`: accel.Optimizer("mine", func(any, ...optim.Option) *optim.Optimizer { return nil }),
		`Schedule("mine", make) has returned nil`:  accel.Schedule("mine", func(int) optim.Schedule { return nil }),
		"the loss has returned nil":                accel.Minimize(func(_, _ *tensor.Tensor) *tensor.Tensor { return nil }),
		"0 weights for 1437 examples":              accel.WeightedRandomSampler(nil),
		`On(""): the name of the device is empty`:  accel.On(""),
	} {
		if _, err := accel.Fit(t.Context(), mlp(4), train, option, accel.Steps(1), accel.Quiet()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q, got %v", option, want, err)
		}
	}
	nothing := nn.Lambda(func(*tensor.Tensor) *tensor.Tensor { return nil }, nn.Dense(3))
	if _, err := accel.Fit(t.Context(), nothing, train, accel.Quiet()); err == nil || !strings.Contains(err.Error(), "the model has returned nil") {
		t.Errorf("a model that returns nil: %v", err)
	}
	var none context.Context
	for want, option := range map[string]data.Option{
		"0 weights for 1437 examples": data.WeightedRandomSampler(nil),
		"the context is nil":          data.Context(none),
	} {
		batches := train.Batches(8, option)
		if batches.Next() || batches.Err() == nil || !strings.Contains(batches.Err().Error(), want) {
			t.Errorf("%v: want %q, got %v", option, want, batches.Err())
		}
	}
}
