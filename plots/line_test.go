package plots

import (
	"math"
	"strings"
	"testing"
)

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
