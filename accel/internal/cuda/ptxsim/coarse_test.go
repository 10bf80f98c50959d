package ptxsim

import (
	"math"
	"testing"
)

func TestCoarseSum(t *testing.T) {
	t.Parallel()
	tiny := math.Ldexp(1, -26)
	for _, row := range []struct {
		name string
		x, y []float64
		c    float64
		bits int
		want float64
	}{
		{"exact", []float64{1, 2}, []float64{3, 4}, 0.5, 16, 11.5},
		{"small products are cut off", []float64{tiny, tiny, tiny, tiny}, []float64{1, 1, 1, 1}, 1, 16, 1},
		{"and negative ones", []float64{-tiny, -tiny}, []float64{1, 1}, 1, 16, 1},
		{"but not beside small sums", []float64{tiny, tiny}, []float64{1, 1}, 0, 16, 2 * tiny},
		{"the sum is cut off, not rounded", []float64{math.Ldexp(1, -24)}, []float64{1}, 1 + math.Ldexp(1, -23), 16, 1 + math.Ldexp(1, -23)},
		{"8 bits keep less", []float64{math.Ldexp(1, -14)}, []float64{1}, 1, 8, 1},
		{"but these", []float64{math.Ldexp(1, -13)}, []float64{1}, 1, 8, 1 + math.Ldexp(1, -13)},
		{"infinite", []float64{math.Inf(1)}, []float64{1}, 1, 16, math.Inf(1)},
	} {
		if got := coarseSum(row.x, row.y, row.c, row.bits); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
	if got := coarseSum([]float64{math.Inf(1), 1}, []float64{0, 1}, 1, 16); !math.IsNaN(got) {
		t.Errorf("∞·0: %v", got)
	}
}
