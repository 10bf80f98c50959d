package accel_test

import (
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/internal/testenv"
)

// BenchmarkFashionMNIST runs five epochs of an MLP with 256 and 128 hidden units. Zalando's
// page reports an accuracy of 0.8833 for one with 256, 128 and 100.
func BenchmarkFashionMNIST(b *testing.B) {
	train, test, err := data.OpenFashionMNIST(b.Context(), "/usr/share/datasets/fashion-mnist")
	if err != nil {
		testenv.Optional(b, "%v", err)
	}
	for b.Loop() {
		accel.Seed(1)
		model := nn.Sequential(nn.Flatten(), nn.Dense(256), nn.ReLU(), nn.Dense(128), nn.ReLU(), nn.Dense(10))
		run, err := accel.Fit(b.Context(), model, train, accel.Epochs(5), accel.BatchSize(256),
			accel.AdamW(2e-3), accel.WarmupCosine(100), accel.Validate(test), accel.Quiet())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(run.Accuracy(), "accuracy")
		b.ReportMetric(run.ExamplesPerSecond(), "examples/s")
	}
}

// BenchmarkStep measures the overhead of Fit around a minimal model.
func BenchmarkStep(b *testing.B) {
	set, err := data.FromSlices([][]float32{{0}, {1}}, []int{0, 1})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := accel.Fit(b.Context(), nn.Dense(2), set, accel.Steps(b.N), accel.Quiet()); err != nil {
		b.Fatal(err)
	}
}
