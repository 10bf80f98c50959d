package seeds_test

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/training/seeds"
)

func TestMean(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, row := range []struct {
		values          []float64
		mean, deviation float64
	}{
		{nil, nan, nan},
		{[]float64{7}, 7, nan},
		{[]float64{1, 2, 6}, 3, math.Sqrt(7)},
		{[]float64{0.1, 0.1, 0.1}, 0.1, 0},
		{[]float64{1e308, 1e308}, 1e308, 0},
		{[]float64{-0.7, -0.7, -0.7, -0.7, -0.7, -0.7}, -0.7, 0},
		{[]float64{1, nan}, nan, nan},
		{[]float64{1, inf}, inf, nan},
	} {
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-15 }
		if mean, deviation := seeds.Mean(row.values); !same(mean, row.mean) || !same(deviation, row.deviation) {
			t.Errorf("%v: got %v ± %v, want %v ± %v", row.values, mean, deviation, row.mean, row.deviation)
		}
	}
	for n := 1; n < 200; n++ {
		values := make([]float64, n)
		for i := range values {
			values[i] = 0.1
		}
		if mean, deviation := seeds.Mean(values); mean != 0.1 || n > 1 && deviation != 0 {
			t.Errorf("%d times 0.1: %v ± %v", n, mean, deviation)
		}
	}
}

func TestText(t *testing.T) {
	nan := math.NaN()
	for _, row := range []struct {
		format, unit    string
		mean, deviation float64
		want            string
	}{
		{"%.4f", "", 0.125, 0.00312, "0.1250 ± 0.0031"},
		{"%.1f", " %", 98.06, 0.21, "98.1 ± 0.2 %"},
		{"%.1f", " %", 98.06, nan, "98.1 %"},
		{"%.4f", "", 2.5, nan, "2.5000"},
		{"%.4f", "", 5.5333e28, 1e27, "5.533e+28 ± 1e+27"},
		{"%.1f", " %", nan, 1, "–"},
		{"%.1f", " %", nan, nan, "–"},
		{"%.1f", " %", math.Inf(1), nan, "–"},
	} {
		if got := seeds.Text(row.format, row.unit, row.mean, row.deviation); got != row.want {
			t.Errorf("%+v: got %q", row, got)
		}
	}
	if mean, deviation := seeds.Of([]string{"a", "abc"}, func(s string) float64 { return float64(len(s)) }); mean != 2 || deviation != math.Sqrt2 {
		t.Errorf("%v ± %v", mean, deviation)
	}
}

func TestSpread(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, row := range []struct {
		counts        []int
		spread, means string
	}{
		{[]int{3, 3, 3}, "mean ± standard deviation of 3 seeds", "mean of 3 seeds"},
		{[]int{1, 1, 1}, "1 seed", "1 seed"},
		{[]int{1, 0, 0}, "1 seed", "1 seed"},
		{[]int{0, 0, 0}, "no seeds", "no seeds"},
		{[]int{2, 0, 0}, "mean ± standard deviation of 2 seeds", "mean of 2 seeds"},
		{[]int{2, 1, 1}, "mean ± standard deviation of 2 seeds (a), 1 seed (b, c)", "mean of 2 seeds (a), 1 seed (b, c)"},
		{[]int{2, 3, 3}, "mean ± standard deviation of 3 seeds (b, c), 2 seeds (a)", "mean of 3 seeds (b, c), 2 seeds (a)"},
	} {
		count := func(name string) (string, int) { return name, row.counts[name[0]-'a'] }
		if got := seeds.Spread(names, count); got != row.spread {
			t.Errorf("%v: %q", row.counts, got)
		}
		if got := seeds.Means(names, count); got != row.means {
			t.Errorf("%v: %q", row.counts, got)
		}
	}
}
