package prof_test

import (
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/prof"
)

// training returns a step of a model on digits with this batch size.
func training(b testing.TB, size int, layers ...nn.Module) func() error {
	b.Helper()
	train, _, err := data.Digits()
	if err != nil {
		b.Fatal(err)
	}
	accel.Seed(1)
	model := nn.Sequential(layers...)
	opt := optim.AdamW(model, 1e-3)
	it := train.Batches(size, data.DropLast())
	return func() error {
		if !it.Next() {
			if err := it.Err(); err != nil {
				return err
			}
			it = train.Batches(size, data.DropLast())
			it.Next()
		}
		batch := it.Batch()
		opt.ZeroGrad()
		nn.CrossEntropy(model.Forward(batch.X), batch.Y).Backward()
		opt.Step()
		return nil
	}
}

// BenchmarkOverhead measures the cost of a profile: the same steps without and with one, in
// alternating groups of ten, so that interference by other processes affects both.
func BenchmarkOverhead(b *testing.B) {
	for _, row := range []struct {
		name   string
		size   int
		layers []nn.Module
	}{
		{"small", 64, []nn.Module{nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10)}},
		{"medium", 256, []nn.Module{nn.Flatten(), nn.Dense(512), nn.ReLU(), nn.Dense(512), nn.ReLU(), nn.Dense(10)}},
		{"convolution", 64, []nn.Module{nn.Conv2D(16, 3, nn.Same()), nn.ReLU(), nn.Conv2D(32, 3, nn.Same()), nn.ReLU(), nn.Flatten(), nn.Dense(10)}},
	} {
		b.Run(row.name, func(b *testing.B) {
			step := training(b, row.size, row.layers...)
			off, on := prof.Measure(b, step)
			b.ReportMetric(off*1e6, "µs/off")
			b.ReportMetric(on*1e6, "µs/on")
			b.ReportMetric(100*(on/off-1), "%")
		})
	}
}
