package accel_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

// TestValidationsJudgeTheAverage trains with a rate at which the average is far better than the parameters:
// what validates, selects and saves must mean the average, or the parameters if they are asked for.
func TestValidationsJudgeTheAverage(t *testing.T) {
	set := rareClasses(t, 400)
	train := func(options ...accel.Option) (*accel.Run, nn.Module, *optim.EMA, string) {
		accel.Seed(1)
		model := nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(3))
		if _, err := accel.Predict(t.Context(), model, must2(set.Tensors()).X); err != nil {
			t.Fatal(err)
		}
		average := optim.NewEMA(model, 0.9)
		path := filepath.Join(t.TempDir(), "best.safetensors")
		run, err := accel.Fit(t.Context(), model, set, append(slices.Clone(options), accel.Epochs(6), accel.BatchSize(32), accel.SGD(2, 0.5), accel.Quiet(),
			accel.Validate(set), accel.EMA(average), accel.SaveBest(path))...)
		must(t, run, err)
		return run, model, average, path
	}
	loss := func(model nn.Module) float64 {
		r, err := accel.Evaluate(t.Context(), model, set, accel.Minimize(nn.CrossEntropy))
		if err != nil {
			t.Fatal(err)
		}
		return r.Loss()
	}
	loaded := func(path string) float64 {
		model := nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(3))
		if err := nn.Load(path, model); err != nil {
			t.Fatal(err)
		}
		return loss(model)
	}
	same := func(what string, a, b float64) {
		t.Helper()
		if math.Abs(a-b) > 1e-6*math.Abs(b) {
			t.Errorf("%s: %v, want %v", what, a, b)
		}
	}
	run, model, average, path := train()
	last := run.Validations[len(run.Validations)-1].Loss
	parameters := loss(model)
	restore := average.Use()
	averaged := loss(model)
	restore()
	if parameters == averaged {
		t.Fatal("the average has the loss of the parameters")
	}
	same("the last validation", last, averaged)
	same("Run.Loss", run.Loss(), averaged)
	same("the parameters after Use", loss(model), parameters)
	same("SaveBest", loaded(path), run.Validations[run.Best].Loss)
	if text := run.String(); !strings.Contains(text, "validation (EMA) loss") {
		t.Errorf("the run does not say what was validated: %s", text)
	}

	raw, model, _, path := train(accel.ValidateParameters())
	same("the last validation of the parameters", raw.Validations[len(raw.Validations)-1].Loss, loss(model))
	same("SaveBest of the parameters", loaded(path), raw.Validations[raw.Best].Loss)
	if strings.Contains(raw.String(), "EMA") {
		t.Errorf("the parameters were validated: %s", raw)
	}
	// What is validated does not change the training.
	for i := range run.Steps {
		if run.Steps[i].Loss != raw.Steps[i].Loss {
			t.Fatalf("step %d: %v with and %v without validation of the average", i, run.Steps[i].Loss, raw.Steps[i].Loss)
		}
	}

	stopped, model, average, _ := train(accel.EarlyStopping(2))
	best := stopped.Validations[stopped.Best].Loss
	same("the model after EarlyStopping", loss(model), best)
	same("Run.Loss after EarlyStopping", stopped.Loss(), best)
	average.Use()
	same("the average after EarlyStopping", loss(model), best)
}

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestResumeOfAValidatedAverage interrupts a training with EMA, validations and EarlyStopping: the result has
// the same bits as without interruption.
func TestResumeOfAValidatedAverage(t *testing.T) {
	set := rareClasses(t, 200)
	fit := func(ctx context.Context, more ...accel.Option) []float64 {
		accel.Seed(4)
		model := nn.Sequential(nn.Dense(8), nn.ReLU(), nn.Dense(3))
		average := optim.NewEMA(model, 0.8)
		run, err := accel.Fit(ctx, model, set, append(more, accel.Epochs(4), accel.BatchSize(32), accel.SGD(1, 0.5), accel.Quiet(),
			accel.Validate(set), accel.ValidateEvery(3), accel.EMA(average), accel.EarlyStopping(4),
			accel.Minimize(nn.CrossEntropyLoss(nn.ClassWeights(1, 5, 9))))...)
		if ctx.Err() == nil && err != nil {
			t.Fatal(err)
		}
		var all []float64
		for _, p := range nn.State(model) {
			all = append(all, p.Float64s()...)
		}
		for _, p := range average.State() {
			all = append(all, p.Sum().Item())
		}
		for _, v := range run.Validations {
			all = append(all, v.Loss)
		}
		for _, e := range run.Epochs {
			all = append(all, e.Loss)
		}
		slices.Sort(all)
		return all
	}
	want := fit(t.Context())
	for _, at := range []int{1, 3, 6, 11, 20} {
		path := filepath.Join(t.TempDir(), "training")
		ctx, cancel := context.WithCancel(t.Context())
		fit(ctx, accel.Resume(path), accel.AfterStep(func(n int) error {
			if n == at {
				cancel()
			}
			return nil
		}))
		cancel()
		if got := fit(t.Context(), accel.Resume(path)); !slices.Equal(got, want) {
			t.Errorf("interrupted after step %d: the result differs", at)
		}
	}
}
