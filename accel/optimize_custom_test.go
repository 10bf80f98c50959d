package accel_test

import (
	"context"
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
