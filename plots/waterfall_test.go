package plots

import (
	"math"
	"strings"
	"testing"
)

func TestWaterfall(t *testing.T) {
	pinned(t, "waterfall", Waterfall("Seconds to 80 %",
		[]string{"as it was", "+ momentum", "+ a larger batch", "+ what fails", "+ what is slower", "+ below zero"},
		[]float64{8, 5.5, 2.25, math.NaN(), 3, -1}))
}

// TestWaterfallBegins checks where each bar begins and whether it rises or falls.
func TestWaterfallBegins(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		values []float64
		from   []float64
		hues   []int
	}{
		{"falls and rises", []float64{8, 5, 6}, []float64{0, 8, 5}, []int{0, 2, 1}},
		{"none in between", []float64{8, nan, 6}, []float64{0, 8, 8}, []int{0, 0, 2}},
		{"none at first", []float64{nan, 5, 6}, []float64{0, 0, 5}, []int{0, 0, 1}},
		{"infinite", []float64{math.Inf(1), 5}, []float64{0, 0}, []int{0, 0}},
		{"no data", nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Waterfall("w", nil, c.values).kind.(waterfall)
			if len(k.bars) != len(c.from) {
				t.Fatalf("%d bars, want %d", len(k.bars), len(c.from))
			}
			for i, b := range k.bars {
				if b.from != c.from[i] || b.hue != c.hues[i] {
					t.Errorf("bar %d from %v in hue %d, want %v and %d", i, b.from, b.hue, c.from[i], c.hues[i])
				}
			}
		})
	}
}

func TestWaterfallOfNothing(t *testing.T) {
	if svg := Waterfall("w", nil, nil).SVG(); !strings.Contains(svg, "no data") {
		t.Error("the figure does not report that it has no data")
	}
}
