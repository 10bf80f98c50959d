package accel_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestFitWithOwnOptimizerAndSchedule checks what Fit passes to an optimizer and a schedule of the
// user.
func TestFitWithOwnOptimizerAndSchedule(t *testing.T) {
	set, err := data.FromTensors(tensor.Randn(tensor.NewGenerator(1), 8, 3), tensor.FromInts([]int{0, 1, 0, 1, 0, 1, 0, 1}, 8))
	if err != nil {
		t.Fatal(err)
	}
	model := nn.Sequential(nn.Dense(2))
	rates := map[float64]bool{}
	sign := func(model any, options ...optim.Option) *optim.Optimizer {
		return optim.Custom("SignSGD", model, 0.5, func(u *optim.Update) *tensor.Tensor {
			rates[u.LearningRate] = true
			return u.Parameter.Sub(u.Gradient.Sign().MulScalar(u.LearningRate))
		}, options...)
	}
	run, err := accel.Fit(context.Background(), model, set, accel.Quiet(), accel.Steps(2), accel.BatchSize(8),
		accel.Optimizer("SignSGD", sign),
		accel.Hyperparameters(optim.Group("0.bias", optim.RateFactor(0.5))),
		accel.Schedule("halves", func(int) optim.Schedule {
			return optim.ScheduleFunc("halves", func(step int) float64 { return []float64{1, 0.25}[step] })
		}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{0.5, 0.25, 0.125, 0.0625} {
		if !rates[want] {
			t.Errorf("learning rate %g is missing among %v", want, rates)
		}
	}
	if len(rates) != 4 {
		t.Errorf("learning rates %v", rates)
	}
	if text := strings.Join(run.Options, " "); !strings.Contains(text, `Group("0.bias", RateFactor(0.5))`) || !slices.Contains(run.Options, `Optimizer("SignSGD", make)`) {
		t.Errorf("options %s", text)
	}
	for _, o := range []accel.Option{accel.Optimizer("x", nil), accel.Schedule("x", nil)} {
		if _, err := accel.Fit(context.Background(), model, set, o); err == nil {
			t.Errorf("%v: no error", o)
		}
	}
}

// TestRecordGradNorm requires the norm before clipping in each step, in event files too, and 0 without the option.
func TestRecordGradNorm(t *testing.T) {
	train, _ := digits(t)
	folder := t.TempDir()
	fit := func(options ...accel.Option) *accel.Run {
		accel.Seed(3)
		run, err := accel.Fit(t.Context(), mlp(4), train.First(96), append(options, accel.SGD(0.1, 0), accel.BatchSize(32), accel.Epochs(2), accel.Quiet())...)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	free := fit(accel.RecordGradNorm(), accel.TensorBoard(folder))
	clipped := fit(accel.RecordGradNorm(), accel.ClipGradNorm(1e-3))
	accumulated := fit(accel.RecordGradNorm(), accel.Accumulate(2))
	for i, s := range free.Steps {
		if !(s.GradNorm > 0.01) || math.IsInf(s.GradNorm, 0) {
			t.Errorf("step %d: %v", i, s.GradNorm)
		}
		if c := clipped.Steps[i].GradNorm; !(c > 0.01) {
			t.Errorf("step %d: the norm %v was measured after clipping", i, c)
		}
	}
	if free.Steps[0].GradNorm != clipped.Steps[0].GradNorm || len(accumulated.Steps) != 4 || accumulated.Steps[0].GradNorm == 0 {
		t.Errorf("first steps: %v, %v and %v", free.Steps[0], clipped.Steps[0], accumulated.Steps[0])
	}
	if s := fit().Steps[0]; s.GradNorm != 0 {
		t.Errorf("without the option: %v", s.GradNorm)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	events, err := os.ReadFile(files[0])
	if err != nil || !bytes.Contains(events, []byte("train/grad_norm")) {
		t.Errorf("no norms in the event file: %v", err)
	}
	figure := fit(accel.RecordGradNorm(), accel.Live(accel.GradNorm)).Figure().MIMEBundle()
	if text := fmt.Sprint(figure["text/plain"]); !strings.Contains(text, "Gradient norm") {
		t.Errorf("the figure has no norms: %s", text)
	}
}

func TestInvalidSchedules(t *testing.T) {
	train, _ := digits(t)
	nan := math.NaN()
	for _, o := range []accel.Option{
		accel.CosineAnnealingLR(-0.1), accel.CosineAnnealingLR(nan), accel.ExponentialLR(0), accel.ExponentialLR(math.Inf(1)), accel.MultiStepLR(-1, 3),
		accel.MultiStepLR(0.1, -3), accel.LinearLR(0, 1, 0), accel.LinearLR(nan, 1, 5), accel.LinearLR(1, -1, 5), accel.ClipGradValue(0), accel.ClipGradValue(nan), accel.NAdam(-1),
		accel.StepLR(0, 0.1), accel.StepLR(-5, 0.1), accel.StepLR(5, 0), accel.StepLR(5, -1), accel.StepLR(5, nan), accel.WarmupCosine(-1),
	} {
		if _, err := accel.Fit(t.Context(), mlp(4), train, o, accel.Quiet()); err == nil || !strings.HasPrefix(err.Error(), "accel: "+o.String()+": ") {
			t.Errorf("%v: %v", o, err)
		}
	}
	for _, o := range []accel.Option{accel.CosineAnnealingLR(0.5), accel.ExponentialLR(0.5), accel.MultiStepLR(0.5, 1), accel.LinearLR(1, 0.5, 1)} {
		run, err := accel.Fit(t.Context(), mlp(4), train.First(64), o, accel.SGD(0.2, 0), accel.BatchSize(32), accel.Steps(2), accel.Quiet())
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{0.2, 0.1}
		if o.String() == "CosineAnnealingLR(0.5)" {
			want[1] = 0.15 // the middle of two steps
		}
		for i, s := range run.Steps {
			if math.Abs(s.LearningRate-want[i]) > 1e-12 {
				t.Errorf("%v: the rate of step %d is %v", o, i, s.LearningRate)
			}
		}
	}
}
