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

// TestFitOnCUDA trains on the CPU and on a simulated GPU with the same seed.
func TestFitOnCUDA(t *testing.T) {
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	train, test = train.First(96), test.First(40)
	fit := func(options ...Option) *Run {
		t.Helper()
		Seed(3)
		model := nn.Sequential(nn.Conv2D(4, 3), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Dropout(.1), nn.Dense(10))
		run, err := Fit(t.Context(), model, train, append([]Option{Quiet(), Epochs(2), BatchSize(32), Validate(test)}, options...)...)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	want, got := fit(), fit(On("simulated"), Live(GPUUtil))
	for i, s := range want.Steps {
		if g := got.Steps[i]; !(math.Abs(g.Loss-s.Loss) < 1e-3) {
			t.Errorf("step %d: loss %.5f, on the CPU %.5f", i+1, g.Loss, s.Loss)
		}
	}
	if math.Abs(got.Loss()-want.Loss()) > 1e-3 || got.Accuracy() != want.Accuracy() {
		t.Errorf("%v, on the CPU %v", got, want)
	}
	if device := got.Card().Device; device != "simulated" || Device() != "cpu" {
		t.Errorf("trained on %s, and %s is in use after it", device, Device())
	}
	if text := got.Figure().String(); !strings.Contains(text, "GPU simulated by ") {
		t.Errorf("the figure does not say that the device is simulated: %s", text)
	}
}

// TestDivergedOnCUDA has a loss that is not finite from the second step on, which the host
// learns of later: within an epoch, and in its last step.
func TestDivergedOnCUDA(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		examples int
		options  []Option
	}{
		{256, []Option{On("simulated")}}, {128, []Option{On("simulated")}}, {128, []Option{On("simulated"), AMP(BF16)}}, {128, []Option{On("simulated:9.0"), AMP(FP8)}},
	} {
		run, err := Fit(t.Context(), nn.Sequential(nn.Flatten(), nn.Dense(16), nn.Dense(10)), train.First(row.examples),
			append(row.options, SGD(3e38, 0), BatchSize(64), Epochs(1), Quiet())...)
		var diverged *DivergedError
		if !errors.As(err, &diverged) || diverged.Step < 2 || diverged.Step > 4 || len(run.Steps) != diverged.Step {
			t.Errorf("%d examples, %v: %d steps, %v", row.examples, run.Options, len(run.Steps), err)
		}
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

// TestPrecisionsOnCUDA trains on simulated GPUs in each precision. AMP() is bfloat16 there. FP8
// gives the same result with both kinds of tensor cores and on the CPU; its final loss is
// within a tenth of that of bfloat16, and an older GPU rejects it.
func TestPrecisionsOnCUDA(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	fit := func(examples int, options ...Option) (*Run, error) {
		Seed(3)
		model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.GELU(), nn.Dense(32), nn.ReLU(), nn.Dense(10))
		return Fit(t.Context(), model, train.First(examples), append(options, Epochs(6), BatchSize(128), AdamW(1e-2), Quiet())...)
	}
	last := func(r *Run, err error) float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r.Epochs[len(r.Epochs)-1].Loss
	}
	run, err := fit(256, On("simulated"), AMP())
	loss, want := last(run, err), last(fit(256, AMP(BF16)))
	if !(math.Abs(loss-want) < 0.01*want) {
		t.Errorf("the loss of AMP() is %v, that of bfloat16 on the CPU %v", loss, want)
	}
	if s := run.Summary(); !strings.Contains(s, "AMP: matrix multiplications rounded to bfloat16") || strings.Contains(s, "CPU") {
		t.Errorf("AMP() on a GPU says\n%s", s)
	}
	fp16, want := last(fit(256, On("simulated"), AMP(FP16))), last(fit(256, AMP(FP16)))
	if !(math.Abs(fp16-want) < 0.01*want) {
		t.Errorf("the loss of float16 is %v, on the CPU %v", fp16, want)
	}

	fp8 := last(fit(256, AMP(FP8)))
	if got := last(fit(256, On("simulated:9.0"), AMP(FP8))); !(math.Abs(got-fp8) < 0.01*fp8) {
		t.Errorf("the loss of 8-bit floats is %v, on the CPU %v", got, fp8)
	}
	if got := last(fit(256, On("simulated:8.9"), AMP(FP8))); !(math.Abs(got-fp8) < 0.01*fp8) {
		t.Errorf("the loss of 8-bit floats on a GPU without wgmma is %v, on the CPU %v", got, fp8)
	}
	all := train.Len()
	want, got := last(fit(all, AMP(BF16))), last(fit(all, AMP(FP8))) // as on GPUs
	t.Logf("the loss of 8-bit floats is %.4f, that of bfloat16 %.4f", got, want)
	if !(math.Abs(got-want) < want/10) || got == want || want > 0.3 {
		t.Errorf("the loss of 8-bit floats is %v, that of bfloat16 %v", got, want)
	}
	if _, err := fit(256, On("simulated"), AMP(FP8)); err == nil || err.Error() != "accel: AMP(FP8): simulated is of compute capability 8.0, and 8-bit floats need 8.9 or more; use Autocast(BFloat16, …) instead" {
		t.Errorf("got %v", err)
	}
}
