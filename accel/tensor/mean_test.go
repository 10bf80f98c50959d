package tensor

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestMeanOfEqualNumbers demands that the mean of equal numbers is that number, and their deviation 0,
// along each axis, for any count and whichever column it is.
func TestMeanOfEqualNumbers(t *testing.T) {
	check := func(what string, x *Tensor, want float64, axes ...int) {
		t.Helper()
		for i, v := range x.Mean(axes...).Float64s() {
			if v != want {
				t.Errorf("%s: mean %d of %v is %v", what, i, want, v)
				return
			}
		}
		for i, v := range x.Std(0, axes...).Float64s() {
			if v != 0 {
				t.Errorf("%s: deviation %d of %v is %v", what, i, want, v)
				return
			}
		}
	}
	for _, number := range []float64{1, 0.1, 3, -7.3, 1e6, 1e30, 1e-30, 1.9999999} {
		for _, double := range []bool{false, true} {
			v, full := float64(float32(number)), func(shape ...int) *Tensor { return Full(number, shape...) }
			if double {
				v, full = number, func(shape ...int) *Tensor {
					values := make([]float64, ir.Len(shape))
					for i := range values {
						values[i] = number
					}
					return FromFloat64s(values, shape...)
				}
			}
			for n := 1; n <= 200; n++ {
				check("all", full(n), v)
			}
			for _, n := range []int{1023, 1025, 3001, 8193, 20011} {
				check("all", full(n), v)
				check("rows", full(3, n), v, 1)
				check("columns", full(7, n), v, 0)
			}
			for _, columns := range []int{1, 2, 3, 7, 15, 16, 17, 33, 64, 65, 100, 257, 300} {
				check("columns", full(1203, columns), v, 0)
				check("rows", full(5, columns), v, 1)
			}
			check("middle", full(3, 41, 5), v, 1)
			check("two axes", full(3, 41, 5, 7), v, 0, 2)
			for _, k := range []int{1, 2, 3, 5, 7} {
				for i, got := range AvgPool2D(full(1, 2, 15, 15), [2]int{k, k}, Window{Stride: [2]int{k, k}}).Float64s() {
					if got != v {
						t.Errorf("window %d of %d×%d: %v, want %v", i, k, k, got, v)
						break
					}
				}
			}
		}
	}
	check("a long table", Full(0.1, 200000, 2), float64(float32(0.1)), 0)
	check("a long table", Full(0.1, 200000, 15), float64(float32(0.1)), 0)
	check("a wide table", Full(0.1, 20000, 130), float64(float32(0.1)), 0)
}

// TestSumErrors compares sums of all shapes with float64: the error is a few units in the last place of
// the sum of absolute values, however many elements are added.
func TestSumErrors(t *testing.T) {
	for _, s := range [][3]int{{1, 1000000, 1}, {3, 100001, 1}, {1, 200000, 3}, {1, 50000, 65}, {2, 9001, 100}, {1, 3000, 2100}, {5000, 1025, 1}} {
		x := Randn(NewGenerator(3), s[0], s[1], s[2]).Square()
		values := x.Float64s()
		sums, means := x.Sum(1).Float64s(), x.Mean(1).Float64s()
		for i := range sums {
			want := 0.0
			for r := range s[1] {
				want += values[(i/s[2]*s[1]+r)*s[2]+i%s[2]]
			}
			if n := float64(s[1]); math.Abs(sums[i]-want) > 2e-7*want || math.Abs(means[i]-want/n) > 2e-7*want/n {
				t.Errorf("%v: sum %d is %v and the mean %v, want %v", s, i, sums[i], means[i], want)
				break
			}
		}
	}
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
