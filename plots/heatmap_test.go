package plots

import (
	"math"
	"testing"
)

func TestHeatMap(t *testing.T) {
	pinned(t, "heatmap", HeatMap("Attention", [][]float64{{.9, .1, 0}, {-.2, math.Inf(1), .4}, {1}}, []string{"the", "cat", "sat"}, []string{"the", "cat", "sat"}).XLabel("key").YLabel("query"))
}
