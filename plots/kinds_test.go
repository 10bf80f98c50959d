package plots

import (
	"math"
	"strings"
	"testing"
)

func TestBands(t *testing.T) {
	pinned(t, "bands", Bands("Accuracy",
		Band{Series{Name: "random", X: []float64{100, 200, 300}, Y: []float64{.8, .85, .9}}, []float64{.78, .84, .89}, []float64{.82, .86, .91}},
		Band{Series{Name: "margin", X: []float64{100, 200, 300}, Y: []float64{.81, .9, math.NaN()}}, []float64{.8, .88}, []float64{.82, .92}},
	).XLabel("labels").YLabel("accuracy"))
}

// The figure is drawn whatever is missing.
func TestBandsOfBadValues(t *testing.T) {
	for name, f := range map[string]*Figure{
		"none":      Bands("none"),
		"empty":     Bands("empty", Band{}),
		"no ranges": Bands("no ranges", Band{Series: Series{Y: []float64{1, 2}}}),
		"infinite":  Bands("infinite", Band{Series{Y: []float64{1, 2}}, []float64{math.Inf(-1), 0}, []float64{math.Inf(1), math.NaN()}}),
		"only NaN":  Bands("only NaN", Band{Series{Y: []float64{math.NaN()}}, []float64{0}, []float64{1}}),
		"log":       Bands("log", Band{Series{X: []float64{0, 1}, Y: []float64{1, 2}}, []float64{-1, 1}, []float64{1, 3}}).LogX().LogY(),
	} {
		if svg := f.SVG(); !strings.Contains(svg, "</svg>") || len(f.PNG()) == 0 {
			t.Errorf("%s: %s", name, svg)
		}
	}
}

func TestBar(t *testing.T) {
	pinned(t, "bar", Bar("Change", []string{"airplane", "a name that is long", "cat", "dog"}, []float64{3.5, -2, math.NaN(), 0}))
}

func TestConfusion(t *testing.T) {
	pinned(t, "confusion", Confusion("Test set", []string{"cat", "dog", "horse"}, [][]int{{80, 18, 2}, {13, 83, 4}, {0, 0, 0}}))
}

func TestConfusionOfManyClasses(t *testing.T) {
	counts := make([][]int, 100)
	for i := range counts {
		counts[i] = make([]int, 100)
		counts[i][i] = 10
	}
	f := Confusion("many", nil, counts)
	saneSVG(t, f)
	if n := strings.Count(f.SVG(), ">100<"); n != 0 {
		t.Errorf("%d cells that are too small have words", n)
	}
}

func TestConfusionShowsLongNames(t *testing.T) {
	t.Parallel()
	names := []string{"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"}
	f := Confusion("", names, nil)
	saneSVG(t, f)
	for _, name := range names {
		if n := strings.Count(f.SVG(), ">"+name+"<"); n != 2 {
			t.Errorf("%s is there %d times, want it at its row and its column", name, n)
		}
	}
}

func TestHeatMap(t *testing.T) {
	pinned(t, "heatmap", HeatMap("Attention", [][]float64{{.9, .1, 0}, {-.2, math.Inf(1), .4}, {1}}, []string{"the", "cat", "sat"}, []string{"the", "cat", "sat"}).XLabel("key").YLabel("query"))
}

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

func TestLine(t *testing.T) {
	pinned(t, "line", Lines("Rate",
		Series{Name: "warm-up", Y: []float64{0, 1, 2, 3, 3, 3}},
		Series{Name: "cosine", X: []float64{0, 2.5, 5}, Y: []float64{3, 1.5, math.NaN()}},
	).XLabel("step").YLabel("rate"))
}

// A figure of a hundred thousand points is no larger than one of a thousand.
func TestLineOfManyPoints(t *testing.T) {
	many := Line("many", noise(100_000, 5)).SVG()
	if len(many) > 60_000 {
		t.Errorf("the SVG has %d bytes", len(many))
	}
	if !strings.Contains(many, "100\u00a0000 points") {
		t.Error("the figure does not say how many points there were")
	}
}

// sweep returns a loss that falls fastest at 1e-3 and is lowest near 1e-1.
func sweep() (rates, losses []float64) {
	for i := range 81 {
		e := -6 + float64(i)*.075
		rates = append(rates, math.Pow(10, e))
		losses = append(losses, 2/(1+math.Exp(3*(e+3)))+math.Max(0, e+1)*5)
	}
	return rates, losses
}

func TestLRFinder(t *testing.T) {
	rates, losses := sweep()
	pinned(t, "lrfinder", LRFinder(rates, losses, 1e-3))
}

// The axis of an unfinished search has all learning rates that will be tried.
func TestLRFinderRange(t *testing.T) {
	rates, losses := sweep()
	f := LRFinder(rates[:5], losses[:5], math.NaN()).RangeX(1e-7, 10)
	found := map[string]bool{}
	for _, w := range writings(t, f) {
		found[w.label] = true
	}
	if !found["1e−6"] || !found["1"] {
		t.Errorf("texts: %v", found)
	}
}

func TestParallelCoordinates(t *testing.T) {
	rates, widths := []float64{.001, .01, .1, .003, .03}, []float64{16, 200, 64, 256, math.NaN()}
	act, loss := []float64{0, 1, 2, 1, 0}, []float64{.8, .31, math.NaN(), .35, .5}
	pinned(t, "parallel", ParallelCoordinates("Settings", []float64{0, 1, 0, .9, .4},
		Axis{Name: "rate", Values: rates, Log: true}, Axis{Name: "width", Values: widths},
		Axis{Name: "activation", Values: act, Words: []string{"relu", "gelu", "a long word that is cut"}},
		Axis{Name: "loss", Values: loss}))
}

// TestParallelCoordinatesWithMissingData draws data with missing parts.
func TestParallelCoordinatesWithMissingData(t *testing.T) {
	for name, f := range map[string]*Figure{
		"nothing":    ParallelCoordinates("", nil),
		"no lines":   ParallelCoordinates("", nil, Axis{Name: "a"}),
		"one axis":   ParallelCoordinates("", nil, Axis{Name: "a", Values: []float64{1, 2}}),
		"one value":  ParallelCoordinates("", []float64{}, Axis{Name: "a", Values: []float64{1}}, Axis{Name: "b", Values: []float64{3}}),
		"no numbers": ParallelCoordinates("", nil, Axis{Values: []float64{math.Inf(1), 1e301}, Log: true}, Axis{Values: []float64{-1, 0}, Log: true}),
		"uneven":     ParallelCoordinates("", []float64{math.NaN(), 7}, Axis{Values: []float64{1, 2, 3}}, Axis{Values: []float64{1}, Words: []string{"x"}}),
	} {
		t.Run(name, func(t *testing.T) { sane(t, f) })
	}
}

func TestScatter(t *testing.T) {
	pinned(t, "scatter", Scatters("Embedding",
		Series{Name: "cat", X: noise(20, 1), Y: noise(20, 2)},
		Series{Name: "dog", X: noise(20, 3), Y: noise(20, 4)},
	).XLabel("first").YLabel("second"))
}

// Very many dots become one image, whose size does not depend on their number.
func TestScatterOfManyDots(t *testing.T) {
	svg := Scatter("cloud", noise(maxDots+1, 1), noise(maxDots+1, 2)).Size(200, 150).SVG()
	if strings.Count(svg, "<image") != 1 || len(svg) > 100_000 {
		t.Errorf("%d images in %d bytes", strings.Count(svg, "<image"), len(svg))
	}
	few := Scatter("cloud", noise(maxDots, 1), noise(maxDots, 2)).SVG()
	if strings.Contains(few, "<image") || strings.Count(few, "h0") != maxDots {
		t.Errorf("%d dots are drawn", strings.Count(few, "h0"))
	}
}

// The image has a dot where the axes have it.
func TestRasterDotPositions(t *testing.T) {
	x, y := noise(maxDots+1, 1), noise(maxDots+1, 2)
	for i := range x { // all at one position except two that set the axes
		x[i], y[i] = .25, .75
	}
	x[0], y[0], x[1], y[1] = 0, 0, 1, 1
	sane(t, Scatter("one place", x, y).Size(300, 200))
}

func TestROC(t *testing.T) {
	pinned(t, "roc", ROC("ROC of the test set",
		Series{Name: "cat", X: []float64{0, 0, .1, .3, 1}, Y: []float64{0, .6, .8, 1, 1}},
		Series{Name: "dog", X: []float64{0, .2, .2, .6, 1}, Y: []float64{0, .3, .7, .9, 1}},
	))
}

func TestPrecisionRecall(t *testing.T) {
	pinned(t, "precisionrecall", PrecisionRecall("Test set", Series{X: []float64{0, .2, .5, .5, 1}, Y: []float64{1, 1, .9, .7, .4}}))
}

func TestCalibration(t *testing.T) {
	pinned(t, "calibration", Calibration("Test set", Series{Name: "before", X: []float64{.1, .5, .95}, Y: []float64{.05, .35, .7}}, Series{Name: "after", X: []float64{.1, .5, .95}, Y: []float64{.1, .45, .9}}))
}

func TestUnitSquareOfBadValues(t *testing.T) {
	for name, f := range map[string]*Figure{
		"nothing":   ROC("nothing"),
		"empty":     ROC("empty", Series{}),
		"one":       PrecisionRecall("one", Series{X: []float64{.5}, Y: []float64{.5}}),
		"bad":       ROC("bad", Series{X: []float64{0, math.NaN(), 2, 1}, Y: []float64{0, .5, .5, math.Inf(1)}}),
		"all bad":   Calibration("all bad", Series{X: []float64{-1}, Y: []float64{.5}}),
		"no bins":   Calibration("no bins", Series{X: []float64{math.NaN()}, Y: []float64{math.NaN()}}),
		"large AUC": ROC("many", Series{X: make([]float64, 5000), Y: make([]float64, 5000)}),
	} {
		sane(t, f)
		if text := f.String(); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

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
