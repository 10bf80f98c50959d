package plots

import (
	"math"
	"testing"
)

func TestHist(t *testing.T) {
	pinned(t, "hist", Hists("Weights", Series{Name: "first", Y: noise(200, 1)}, Series{Name: "second", Y: noise(50, 2)}))
}

// The area of a histogram is 1, whatever the data.
func TestDensityIsOne(t *testing.T) {
	for name, y := range map[string][]float64{"uniform": noise(1000, 3), "one": {2}, "ends": {0, 1}, "large": {-1e9, 5, 1e9}, "with NaN": {1, math.NaN(), 2}} {
		points := Series{Y: y}.points()
		var index, l limits
		ranges(&index, &l, points, false, false)
		first, width, count := bins(l.widened(false), len(y))
		area := 0.0
		for i, p := range density(points, first, width, count) {
			if i%2 == 0 {
				area += p.y * width
			}
		}
		if math.Abs(area-1) > 1e-9 {
			t.Errorf("%s: area %v", name, area)
		}
		if first > l.lo || first+width*float64(count) < l.hi {
			t.Errorf("%s: bins from %v to %v do not hold [%v, %v]", name, first, first+width*float64(count), l.lo, l.hi)
		}
	}
}
