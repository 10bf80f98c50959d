package accel_test

import (
	"context"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/display"
)

// watched records the position of a progress bar each time that the model is called.
type watched struct {
	nn.Module
	meter *display.Meter
	parts []float64
}

func (w *watched) Forward(x *nn.Tensor) *nn.Tensor {
	w.parts = append(w.parts, w.meter.Last().Done)
	return w.Module.Forward(x)
}

// Operations that may take longer than a second display a progress bar.
func TestLongCallsAreMeasured(t *testing.T) {
	train, _, err := data.Digits() // 1437 examples: three batches of an evaluation
	if err != nil {
		t.Fatal(err)
	}
	classifier := nn.Sequential(nn.Flatten(), nn.Dense(10))
	var reports []int
	for _, row := range []struct {
		name  string
		model nn.Module
		do    func(ctx context.Context, model nn.Module) error
		want  []float64 // before each call of the model
	}{
		{"Evaluate", classifier, func(ctx context.Context, model nn.Module) error {
			_, err := accel.Evaluate(ctx, model, train)
			return err
		}, []float64{0, 512. / 1437, 1024. / 1437}},
		{"PredictDataset", classifier, func(ctx context.Context, model nn.Module) error {
			_, err := accel.PredictDataset(ctx, model, train, accel.BatchSize(1000))
			return err
		}, []float64{0, 1000. / 1437}},
		{"Predict with Progress", classifier, func(ctx context.Context, model nn.Module) error {
			_, err := accel.PredictDataset(ctx, model, train, accel.BatchSize(1000), accel.Progress(func(done, all int) { reports = append(reports, done) }))
			return err
		}, []float64{0, 0}},
		{"Generate", nn.Sequential(nn.Embedding(5, 4), nn.Dense(5)), func(ctx context.Context, model nn.Module) error {
			_, err := accel.Generate(ctx, model, []int{1}, 4)
			return err
		}, []float64{0, .25, .5, .75}},
		{"without a meter", classifier, func(ctx context.Context, model nn.Module) error {
			_, err := accel.Evaluate(display.Unmeasured(ctx), model, train)
			return err
		}, []float64{0, 0, 0}},
	} {
		meter, ctx := display.Measure(t.Context(), "test", 1)
		t.Cleanup(meter.End)
		model := &watched{Module: row.model, meter: meter}
		if err := row.do(ctx, model); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		if !slices.Equal(model.parts, row.want) {
			t.Errorf("%s: %v, want %v", row.name, model.parts, row.want)
		}
	}
	if !slices.Equal(reports, []int{1000, 1437}) {
		t.Errorf("Progress: %v", reports)
	}
}
