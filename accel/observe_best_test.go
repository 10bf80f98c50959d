package accel_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// bias is a model whose single parameter is its prediction: it starts at 0, and a training on
// targets of 1 moves it up.
func bias(t *testing.T, validation float32) (model nn.Module, train, test *data.Dataset) {
	t.Helper()
	train, err := data.FromTargets([][]float32{{0}, {0}}, [][]float32{{1}, {1}})
	if err == nil {
		test, err = data.FromTargets([][]float32{{0}}, [][]float32{{validation}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return nn.Dense(1), train, test
}

// TestBestByAMetric trains a prediction upward from about 0, and measures it with a metric that is
// best when the loss is not.
func TestBestByAMetric(t *testing.T) {
	height := metrics.Of("height", metrics.HigherIsBetter, func(p, y *tensor.Tensor) (float64, error) { return p.Item(), nil })
	for _, tt := range []struct {
		name    string
		options []accel.Option
		first   bool   // the first validation is the best one
		note    string // why it stopped
	}{
		{"loss", nil, true, "stopped early: the validation loss has not fallen in 3 validations"},
		{"metric", []accel.Option{accel.BestBy(height)}, false, ""},
		{"lower", []accel.Option{accel.BestBy(metrics.MSE())}, true, "stopped early: MSE has not fallen in 3 validations"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			accel.Seed(1)
			model, train, test := bias(t, -3)
			path := filepath.Join(t.TempDir(), "best.safetensors")
			options := append(tt.options, accel.Epochs(6), accel.SGD(0.02, 0), accel.Validate(test), accel.EarlyStopping(3), accel.SaveBest(path), accel.Quiet())
			run, err := accel.Fit(t.Context(), model, train, options...)
			must(t, run, err)
			if want := len(run.Validations) - 1; tt.first && run.Best != 0 || !tt.first && run.Best != want {
				t.Errorf("the best validation is %d of %d", run.Best, len(run.Validations))
			}
			if stopped := len(run.Validations) == 4; stopped != tt.first || stopped && !slices.ContainsFunc(run.Notes, func(n string) bool { return n == tt.note }) {
				t.Errorf("%d validations, notes %q", len(run.Validations), run.Notes)
			}
			best := nn.Dense(1)
			if err := nn.Load(path, best); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(weights(best), weights(model)) {
				t.Error("the file does not have the weights of the best validation, which Fit has restored")
			}
			if _, ok := accel.SchemaOf(best); !ok {
				t.Error("the file does not have the names")
			}
		})
	}
	model, train, test := bias(t, 0)
	for want, options := range map[string][]accel.Option{
		"BestBy(metrics.MAE()) needs validations": {accel.BestBy(metrics.MAE())},
		`SaveBest("x") needs validations`:         {accel.SaveBest("x")},
		"a training has one criterion":            {accel.BestBy(metrics.MAE()), accel.BestBy(metrics.MSE()), accel.Validate(test)},
	} {
		if _, err := accel.Fit(t.Context(), model, train, append(options, accel.Quiet())...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	images, _ := digits(t)
	images = images.First(64)
	_, err := accel.Fit(t.Context(), mlp(4), images, accel.Epochs(1), accel.Validate(images), accel.BestBy(metrics.F1(metrics.PerClass)), accel.Quiet())
	if err == nil || !strings.Contains(err.Error(), "has no single value: use an average") {
		t.Errorf("a metric with a value for each class: %v", err)
	}
}

// TestMetricsOfSeveralRuns requires the metrics in the tables of Compare and Runs.
func TestMetricsOfSeveralRuns(t *testing.T) {
	_, train, test := bias(t, 1)
	folder := t.TempDir()
	comparison, err := accel.Compare(t.Context(), func() nn.Module { return nn.Dense(1) }, train,
		accel.NewVariant("slow", accel.Epochs(1), accel.Validate(test), accel.Metrics(metrics.MAE()), accel.Track(folder)),
		accel.NewVariant("loss only", accel.Epochs(1), accel.Validate(test), accel.Track(folder)))
	if err != nil {
		t.Fatal(err)
	}
	mean, deviation := comparison.Variants[0].Metric("MAE")
	want := 0.0
	for _, r := range comparison.Variants[0].Runs {
		want += r.Metric("MAE") / 3
	}
	if mean < want-1e-12 || mean > want+1e-12 || !(deviation > 0) {
		t.Errorf("MAE %v ± %v, want the mean %v", mean, deviation, want)
	}
	if text := comparison.String(); !strings.Contains(strings.SplitN(text, "\n", 2)[0], "MAE") {
		t.Errorf("no column MAE:\n%s", text)
	}
	runs, err := accel.Runs(folder)
	if err != nil {
		t.Fatal(err)
	}
	with := 0
	for _, r := range runs.Runs {
		if _, ok := r.Metrics["MAE"]; ok {
			with++
		}
	}
	if header := strings.SplitN(runs.String(), "\n", 2)[0]; with != 3 || !strings.Contains(header, "MAE") {
		t.Errorf("%d runs have MAE; the table begins with %s", with, header)
	}
}
