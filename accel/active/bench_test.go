package active_test

import (
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/internal/testenv"
)

// BenchmarkQuery selects 200 of nearly 60 000 images of Fashion-MNIST.
func BenchmarkQuery(b *testing.B) {
	train, _, err := data.FashionMNIST()
	if err != nil {
		testenv.Optional(b, "%v", err)
	}
	pool := active.NewPool(train, 200, 1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dropout(0.2), nn.Dense(10))
	if _, err := accel.Fit(b.Context(), model, pool.Labeled(), accel.Steps(300), accel.Quiet()); err != nil {
		b.Fatal(err)
	}
	if _, err := active.Query(b.Context(), model, pool, active.Random(), 1); err != nil { // finds the duplicates
		b.Fatal(err)
	}
	for _, s := range []active.Strategy{
		active.Random(), active.Margin(), active.Entropy(), active.BALD(10), active.BatchBALD(10), active.CoreSet(), active.BADGE(),
		active.TypiClust(), active.ExpectedError(10), active.Synthesize(),
	} {
		b.Run(s.String(), func(b *testing.B) {
			n := 200
			if s.String() == "BatchBALD" || s.String() == "expected error" {
				n = 10
			}
			for b.Loop() {
				if _, err := active.Query(b.Context(), model, pool, s, n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
