package accel_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// four returns a data set whose examples are their own logits.
func four(t *testing.T) *data.Dataset {
	t.Helper()
	set, err := data.FromSlices([][]float32{{9, 0, 0}, {0, 9, 0}, {0, 9, 0}, {0, 0, 9}}, []int{0, 1, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	if set, err = set.WithClasses("cat", "dog", "owl"); err != nil {
		t.Fatal(err)
	}
	return set.Named("four")
}

func TestEvaluateMetrics(t *testing.T) {
	largest := metrics.Of("largest logit", metrics.HigherIsBetter, func(p, _ *tensor.Tensor) (float64, error) { return p.Reshape(-1).Max(0).Item(), nil })
	result, err := accel.Evaluate(t.Context(), nn.Sequential(), four(t), accel.Metrics(metrics.F1(metrics.PerClass), metrics.ROCAUC(), largest))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"F1 (cat)": 1, "F1 (dog)": 2. / 3, "F1 (owl)": 2. / 3, "ROC AUC": (1 + 5./6 + 0.75) / 3, "largest logit": 9} {
		if got := result.Metric(name); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: want %v, got %v", name, want, got)
		}
	}
	if text := result.String(); !strings.Contains(text, "accuracy 75.0 %, F1 (cat) 100.0 %, F1 (dog) 66.7 %, F1 (owl) 66.7 %, ROC AUC 86.1 %, largest logit 9.000,") {
		t.Error(text)
	}
	if curve, err := result.Collection().ROC(2); err != nil || curve.AUC() != 0.75 {
		t.Errorf("%v, %v", curve, err)
	}
	if !math.IsNaN(result.Metric("F2")) {
		t.Error("there is a value of F2")
	}
}

func TestEvaluateMetricErrors(t *testing.T) {
	_, err := accel.Evaluate(t.Context(), nn.Sequential(), four(t).First(3), accel.Metrics(metrics.ROCAUC(metrics.OfClass(1)), metrics.ROCAUC(metrics.Weighted)), accel.Metrics(metrics.MAE()))
	if err == nil || !strings.Contains(err.Error(), "the same shape [N] or [N, K]") {
		t.Errorf("a metric of regression: %v", err)
	}
	var undefined *metrics.UndefinedError
	_, err = accel.Evaluate(t.Context(), nn.Sequential(), four(t).First(2), accel.Metrics(metrics.ROCAUC()))
	if !errors.As(err, &undefined) || undefined.Class != 2 || !strings.Contains(err.Error(), "ROC AUC is undefined: there are no positive examples of class 2") {
		t.Errorf("a class without examples: %v", err)
	}
	for want, o := range map[string]accel.Option{
		"accel: Metrics(metrics.TopK(0)): metrics: TopK(0)": accel.Metrics(metrics.TopK(0)),
		"there are two metrics named F1":                    accel.Metrics(metrics.F1(), metrics.F1()),
	} {
		if _, err := accel.Evaluate(t.Context(), nn.Sequential(), four(t), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := accel.Fit(t.Context(), nn.Dense(3), four(t), accel.Metrics(metrics.F1()), accel.Quiet()); err == nil || err.Error() != "accel: Metrics measures a validation set: add Validate(set)" {
		t.Errorf("without Validate: %v", err)
	}
}

// TestMetricsOfNaN has a prediction that is NaN, which the loss reports.
func TestMetricsOfNaN(t *testing.T) {
	set, err := data.FromSlices([][]float32{{1, 2}, {float32(math.NaN()), 1}}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	result, err := accel.Evaluate(t.Context(), nn.Sequential(), set, accel.Metrics(metrics.F1()))
	if err != nil || !math.IsNaN(result.Metric("F1")) || !math.IsNaN(result.Accuracy()) || len(result.Metrics()) != 1 {
		t.Errorf("%v, %v", result, err)
	}
	if text := result.String(); !strings.Contains(text, "F1 –") || !strings.Contains(text, "example 1") {
		t.Error(text)
	}
}

func TestFitMetrics(t *testing.T) {
	train, test := digits(t)
	train, test = train.First(200), test.First(80)
	folder, path := t.TempDir(), filepath.Join(t.TempDir(), "run.safetensors")
	options := []accel.Option{
		accel.BatchSize(32), accel.AdamW(3e-3), accel.Validate(test), accel.Quiet(), accel.Resume(path), accel.Track(folder),
		accel.Metrics(metrics.F1(metrics.Macro), metrics.TopK(3), metrics.LogLoss()),
	}
	accel.Seed(3)
	model := mlp(16)
	run, err := accel.Fit(t.Context(), model, train, append(options, accel.Epochs(2))...)
	must(t, run, err)
	run, err = accel.Fit(t.Context(), model, train, append(options, accel.Epochs(3))...) // resumed
	must(t, run, err)
	if len(run.Validations) != 3 {
		t.Fatalf("%d validations", len(run.Validations))
	}
	for _, v := range run.Validations {
		if len(v.Metrics) != 3 || v.Metrics[0].Name != "F1 (macro)" || math.Abs(v.Metrics[2].Value-v.Loss) > 1e-5 || !(v.Metrics[1].Value >= v.Accuracy) {
			t.Errorf("%+v", v)
		}
	}
	result, err := accel.Evaluate(t.Context(), model, test, accel.Metrics(metrics.F1(metrics.Macro)))
	if err != nil || result.Metric("F1 (macro)") != run.Metric("F1 (macro)") {
		t.Errorf("%v, the run %v, %v", result, run.Metric("F1 (macro)"), err)
	}
	text := fmt.Sprint(run, run.Card(), run.Options, run.Figure(), run.Figure().SVG())
	for _, want := range []string{", F1 (macro) ", `"F1 (macro)": 0.`, "Metrics(metrics.F1(metrics.Macro), metrics.TopK(3), metrics.LogLoss())", "Validation metrics", "Validation log loss"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
