package plots

import (
	"math"
	"testing"
)

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
