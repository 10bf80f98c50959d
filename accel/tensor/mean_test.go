package tensor

import (
	"math"
	"testing"
)

// TestMeanOfEqualNumbers demands that the mean of equal numbers is that number, up to the rounding of their
// sum, and their deviation 0, along each axis and whichever column it is.
func TestMeanOfEqualNumbers(t *testing.T) {
	check := func(what string, x *Tensor, want float32, axes ...int) {
		t.Helper()
		for i, v := range x.Mean(axes...).Data() {
			// The sum is rounded before it is divided, which 1 does not show.
			if v != want && (want == 1 || math.Abs(float64(v-want)) > 2e-6*math.Abs(float64(want))) {
				t.Errorf("%s: mean %d of %v is %v", what, i, want, v)
				return
			}
		}
		for i, v := range x.Std(0, axes...).Data() {
			if !(math.Abs(float64(v)) <= 1e-6*math.Abs(float64(want))) {
				t.Errorf("%s: deviation %d of %v is %v", what, i, want, v)
				return
			}
		}
	}
	for _, v := range []float64{1, 0.1, -7.3, 1e6} {
		for n := 1; n <= 200; n++ {
			check("all", Full(v, n), float32(v))
		}
		for _, columns := range []int{1, 2, 3, 7, 15, 16, 17, 33} {
			check("columns", Full(v, 3000, columns), float32(v), 0)
			check("rows", Full(v, 5, columns), float32(v), 1)
		}
		check("middle", Full(v, 3, 41, 5), float32(v), 1)
	}
	check("a long table", Full(0.1, 200000, 2), 0.1, 0)
	check("a long table", Full(0.1, 200000, 15), 0.1, 0)
}

// TestColumnsOfNarrowTables compares the deviation of values far from 0 with float64.
func TestColumnsOfNarrowTables(t *testing.T) {
	g := NewGenerator(9)
	for _, columns := range []int{1, 2, 5, 15, 16, 20, 64, 65} {
		const rows = 50000
		x := Randn(g, rows, columns).AddScalar(100000)
		values := x.Float64s()
		means, deviations := x.Mean(0).Float64s(), x.Std(1, 0).Float64s()
		for c := range columns {
			mean, squares := 0.0, 0.0
			for r := range rows {
				mean += values[r*columns+c] / rows
			}
			for r := range rows {
				squares += (values[r*columns+c] - mean) * (values[r*columns+c] - mean)
			}
			want := math.Sqrt(squares / (rows - 1))
			if math.Abs(means[c]-mean) > 0.05 || math.Abs(deviations[c]-want) > 1e-3 {
				t.Errorf("column %d of %d: %v ± %v, want %v ± %v", c, columns, means[c], deviations[c], mean, want)
				break
			}
		}
	}
}
