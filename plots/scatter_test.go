package plots

import (
	"strings"
	"testing"
)

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
