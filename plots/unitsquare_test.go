package plots

import (
	"math"
	"strings"
	"testing"
)

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
