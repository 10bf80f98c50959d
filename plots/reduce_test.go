package plots

import (
	"math"
	"slices"
	"testing"
)

// walk returns a random walk of n points.
func walk(n int) []point {
	points := make([]point, n)
	y := 0.0
	for i, v := range noise(n, 9) {
		y += v - .5
		points[i] = point{float64(i), y}
	}
	return points
}

func TestReduceKeepsVisiblePoints(t *testing.T) {
	all := walk(100_000)
	kept := reduce(all, 0, 99_999, false)
	if len(kept) > 4*(maxColumns+1) {
		t.Errorf("%d points are left", len(kept))
	}
	if kept[0] != all[0] || kept[len(kept)-1] != all[len(all)-1] {
		t.Error("the first or the last point is lost")
	}
	if !slices.IsSortedFunc(kept, func(a, b point) int { return int(a.x - b.x) }) {
		t.Error("the order is lost")
	}
	// Range of y in each column, the one that is as wide as the line.
	extent := func(points []point) map[int]limits {
		columns := map[int]limits{}
		for _, p := range points {
			c := int(p.x / 99_999 * maxColumns)
			l := columns[c]
			l.add(p.y)
			columns[c] = l
		}
		return columns
	}
	want, got := extent(all), extent(kept)
	for c, l := range want {
		if got[c] != l {
			t.Errorf("column %d covers %v instead of %v", c, got[c], l)
		}
	}
}

func TestReduceLeavesFewPointsAlone(t *testing.T) {
	few := walk(100)
	if !slices.Equal(reduce(few, 0, 99, false), few) {
		t.Error("few points have changed")
	}
}

// A circle goes back and forth in x, and must remain a circle.
func TestReduceCurveWithDecreasingX(t *testing.T) {
	var circle []point
	for i := range 10_000 {
		sin, cos := math.Sincos(float64(i) / 10_000 * 2 * math.Pi)
		circle = append(circle, point{cos, sin})
	}
	kept := reduce(circle, -1, 1, false)
	if n := len(kept); n < maxColumns || n > 4*(maxColumns+1) {
		t.Fatalf("%d points are left", n)
	}
	for i := 1; i < len(kept); i++ {
		if d := math.Hypot(kept[i].x-kept[i-1].x, kept[i].y-kept[i-1].y); d > .1 {
			t.Fatalf("a gap of %v", d)
		}
	}
}

func TestSmooth(t *testing.T) {
	var constant []point
	for i := range 50 {
		constant = append(constant, point{float64(i), 3})
	}
	for _, p := range smooth(constant, 10) {
		if math.Abs(p.y-3) > 1e-12 {
			t.Fatalf("a constant became %v", p.y)
		}
	}
	// By hand: weights ½ and ¼, over their sum.
	got := smooth([]point{{0, 4}, {1, math.NaN()}, {2, 1}}, 2)
	if got[0].y != 4 || !math.IsNaN(got[1].y) || got[2].y != (.5*1+.25*4)/.75 {
		t.Errorf("got %v", got)
	}
}

func TestCentered(t *testing.T) {
	got := centered([]point{{0, 1}, {1, 2}, {2, 6}}, 1)
	for i, want := range []float64{1.5, 3, 4} {
		if math.Abs(got[i].y-want) > 1e-12 {
			t.Errorf("point %d is %v, want %v", i, got[i].y, want)
		}
	}
}

func TestIntervals(t *testing.T) {
	points := []point{{0, 1}, {1, 3}, {2, math.NaN()}, {3, math.Inf(1)}, {4, 5}, {5, 7}}
	got := intervals(points, 3, 0, 6)
	want := [][]interval{{{.5, 1, 2, 3}}, {{4.5, 5, 6, 7}}}
	if len(got) != 2 || !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
		t.Errorf("want %v\n got %v", want, got)
	}
}

func TestRuns(t *testing.T) {
	points := []point{{0, math.NaN()}, {1, 1}, {2, 2}, {3, 1e301}, {4, -4}, {math.NaN(), 5}}
	parts, bad := runs(points, false, false)
	if len(parts) != 2 || len(parts[0]) != 2 || len(parts[1]) != 1 || len(bad) != 3 {
		t.Errorf("parts %v, bad %v", parts, bad)
	}
	if parts, bad := runs(points, true, true); len(parts) != 1 || len(bad) != 4 {
		t.Errorf("logarithmic: parts %v, bad %v", parts, bad)
	}
}

func TestAverageOverTime(t *testing.T) {
	// 10 for one second, 90 for three.
	mean, seconds := average([]point{{0, 10}, {1, 90}, {4, 0}})
	if mean != 70 || seconds != 4 {
		t.Errorf("mean %v over %v s", mean, seconds)
	}
	if mean, _ := average([]point{{0, math.NaN()}}); !math.IsNaN(mean) {
		t.Errorf("mean of nothing is %v", mean)
	}
}
