package accel_test

import (
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestStatsOfTraining trains epochs whose last batch is smaller, with dropout, a schedule,
// clipping and validation. The plans of the first two epochs serve all others, each step is one
// flush and one wait, and nothing grows.
func TestStatsOfTraining(t *testing.T) {
	train, test := digits(t)
	train, test = train.First(300), test.First(100) // batches of 64, 64, 64, 64, 44
	accel.Seed(1)
	model := nn.Sequential(nn.Conv2D(4, 3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Dense(10))
	fit := func(epochs int) accel.Statistics {
		before := accel.Stats()
		run, err := accel.Fit(t.Context(), model, train, accel.Epochs(epochs), accel.AdamW(1e-3), accel.WarmupCosine(5),
			accel.ClipGradNorm(1), accel.Validate(test), accel.Quiet())
		must(t, run, err)
		s := accel.Stats()
		s.Flushes -= before.Flushes
		s.PlansMade -= before.PlansMade
		s.PlanHits -= before.PlanHits
		s.Syncs -= before.Syncs
		return s
	}
	live := func() int {
		ir.Collect()
		return accel.Stats().LiveBytes
	}
	fit(2)
	before, peak := live(), accel.Stats().PeakBytes
	const epochs, steps = 10, 5
	s := fit(epochs)
	// The optimizer is new, so its first step, which has no running means yet, and the next two
	// steps with either batch size may need new plans.
	if s.PlansMade > 4 {
		t.Errorf("%d epochs have made %d new plans", epochs, s.PlansMade)
	}
	if s.PlanHits+s.PlansMade != s.Flushes {
		t.Errorf("%d flushes, but %d plans made and %d hit", s.Flushes, s.PlansMade, s.PlanHits)
	}
	if most := epochs * (steps + 1 + 1); s.Flushes > most { // one flush for each step and validation
		t.Errorf("%d flushes in %d epochs of %d steps", s.Flushes, epochs, steps)
	}
	if most := epochs*2*(steps+2) + 10; s.Syncs > most { // loss and number of correct predictions, and once what the checks read
		t.Errorf("the host waited %d times in %d steps", s.Syncs, epochs*steps)
	}
	if after := live(); after > before+64<<10 {
		t.Errorf("what is alive grew from %d to %d bytes", before, after)
	}
	if again := fit(epochs); again.PlansMade > 4 {
		t.Errorf("the same again has made %d new plans", again.PlansMade)
	}
	if now := accel.Stats().PeakBytes; now > peak+peak/2+8<<20 { // garbage that has not been collected yet
		t.Errorf("the peak grew from %d to %d bytes", peak, now)
	}
	if s.Steps >= s.Ops || s.PlanBytes == 0 || s.PeakBytes < s.LiveBytes {
		t.Errorf("statistics that cannot be: %+v", s)
	}
}

// TestStatsOfALoop runs its own training loop, whose steps need exactly one plan for each batch
// size once the optimizer has its running means.
func TestStatsOfALoop(t *testing.T) {
	w := tensor.Parameter(tensor.Ones(8, 3))
	step := func(rows int) {
		x, y := tensor.Ones(rows, 8), tensor.FromInts(make([]int, rows), rows)
		loss := nn.CrossEntropy(x.MatMul(w), y)
		w.ZeroGrad()
		loss.Backward()
		tensor.NoGrad(func() { w.Assign(w.Sub(w.Grad().MulScalar(0.1))) })
		loss.Item()
	}
	sizes := []int{32, 32, 5}
	for range 2 {
		for _, n := range sizes {
			step(n)
		}
	}
	before := accel.Stats()
	for range 100 {
		for _, n := range sizes {
			step(n)
		}
	}
	after := accel.Stats()
	if made, hits, syncs := after.PlansMade-before.PlansMade, after.PlanHits-before.PlanHits, after.Syncs-before.Syncs; made != 0 || hits != 300 || syncs != 300 {
		t.Errorf("300 steps: %d plans made, %d hit, %d waits", made, hits, syncs)
	}
}
