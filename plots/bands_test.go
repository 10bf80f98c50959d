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
