package tensor

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

func TestGeneratorState(t *testing.T) {
	a, b := NewGenerator(7), NewGenerator(1)
	a.Perm(5)
	Randn(a, 3)
	b.SetState(a.State())
	for range 3 {
		if x, y := a.Uint64(), b.Uint64(); x != y {
			t.Fatalf("%d and %d", x, y)
		}
	}
	tensors.Seed(3)
	seed, drawn := (*Generator)(nil).State()
	first := (*Generator)(nil).Uint64()
	(*Generator)(nil).SetState(seed, drawn)
	if again := (*Generator)(nil).Uint64(); seed != 3 || drawn != 0 || again != first {
		t.Errorf("seed %d, drawn %d, %d and %d", seed, drawn, first, again)
	}
}
