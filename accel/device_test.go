//go:build !race

// The race detector makes the simulated GPU ten times slower.

package accel

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// TestFitOnCUDA trains on the processor and on a simulated GPU from one seed.
func TestFitOnCUDA(t *testing.T) {
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	train, test = train.First(96), test.First(40)
	fit := func(options ...Option) *Run {
		t.Helper()
		Seed(3)
		model := nn.Sequential(nn.Conv2D(4, 3), nn.BatchNorm(), nn.ReLU(), nn.MaxPool(2), nn.Flatten(), nn.Dropout(.1), nn.Dense(10))
		run, err := Fit(t.Context(), model, train, append(options, Epochs(2), BatchSize(32), Validate(test), Quiet())...)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	want, got := fit(), fit(On("simulated"))
	for i, s := range want.Steps {
		if g := got.Steps[i]; !(math.Abs(g.Loss-s.Loss) < 1e-3) {
			t.Errorf("step %d: loss %.5f, on the processor %.5f", i+1, g.Loss, s.Loss)
		}
	}
	if math.Abs(got.Loss()-want.Loss()) > 1e-3 || got.Accuracy() != want.Accuracy() {
		t.Errorf("%v, on the processor %v", got, want)
	}
	if device := got.Card().Device; device != "simulated" || Device() != "cpu" {
		t.Errorf("trained on %s, and %s is in use after it", device, Device())
	}
}

// TestDivergedOnCUDA has a loss that is infinite from the second step on.
func TestDivergedOnCUDA(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	run, err := Fit(t.Context(), nn.Sequential(nn.Flatten(), nn.Dense(10)), train.First(256), SGD(3e38, 0), Epochs(1), Quiet(), On("simulated"))
	var diverged *DivergedError
	if !errors.As(err, &diverged) || diverged.Step < 2 || diverged.Step > 4 || len(run.Steps) != diverged.Step {
		t.Fatalf("%d steps, %v", len(run.Steps), err)
	}
}

func TestDevices(t *testing.T) {
	l := Devices()
	if text := l.String(); !strings.Contains(text, "cpu") || !strings.Contains(text, "in use") || (l.Missing == "") != (len(l.GPUs) > 0) {
		t.Errorf("%s", text)
	}
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(t.Context(), nn.Dense(1), train, On("abacus")); err == nil {
		t.Error("trained on an abacus")
	}
}
