package optim_test

import (
	"runtime"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestStepDoesNotLeak runs many steps whose plans are in the cache. Each step allocates the same
// small number of objects, and none of them stays reachable: the heap after ten thousand steps
// is as large as after one thousand.
func TestStepDoesNotLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("eleven thousand steps")
	}
	g := tensor.NewGenerator(1)
	x, y := tensor.Randn(g, 2, 1, 4, 4), tensor.FromInts([]int{0, 1}, 2)
	model := nn.Sequential(nn.Conv2D(2, 3), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(2))
	opt := optim.Adam(model, 1e-3)
	step := func() {
		loss := nn.CrossEntropy(model.Forward(x), y)
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
		loss.Release()
	}
	settled := func(steps int) (allocations, bytes uint64) {
		for range steps {
			step()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			step()
		}
		runtime.ReadMemStats(&after)
		allocations = (after.Mallocs - before.Mallocs) / 100
		for range 2 { // objects with clean-ups are freed one cycle later
			ir.Collect()
		}
		runtime.ReadMemStats(&after)
		return allocations, after.HeapAlloc
	}
	settled(100)
	tensors.ResetStats()
	early, small := settled(1_000)
	late, large := settled(9_000)
	stats := tensors.Stats()
	t.Logf("%d allocations a step, heap %d bytes after 1 000 steps; %d and %d after 10 000; %+v", early, small, late, large, stats)
	if stats.PlansMade > 0 {
		t.Errorf("%d plans were made on the way", stats.PlansMade)
	}
	// The Go runtime and the test itself allocate a little now and then.
	if late > early+early/20+1 {
		t.Errorf("a step allocates %d objects after 10 000 steps, %d after 1 000", late, early)
	}
	if slack := uint64(64 << 10); large > small+slack {
		t.Errorf("the heap has %d bytes after 10 000 steps, %d after 1 000", large, small)
	}
}
