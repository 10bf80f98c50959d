package plots

import (
	"math"
	"strings"
	"testing"
)

func TestTimeline(t *testing.T) {
	pinned(t, "timeline", Timeline("One step",
		Lane{"host", []Block{{0, .003, "batch", "waiting for data"}, {.003, .004, "host", ""}}},
		Lane{"cpu", []Block{{.004, .009, "Linear", "forward"}, {.009, .0090001, "tiny", "forward"}, {.0091, .013, "MatMul", "backward"}}},
	))
}

func TestAreas(t *testing.T) {
	pinned(t, "areas", Areas("Memory",
		Series{"parameters", []float64{0, 1, 2}, []float64{5, 5, 5}},
		Series{"activations", []float64{0, 1, 2}, []float64{0, 8, 1}},
	).XLabel("ms").YLabel("MiB"))
}

func TestRoofline(t *testing.T) {
	pinned(t, "roofline", Roofline("Roofline", RooflineData{FLOPs: 200e9, Bytes: 20e9, Points: []RooflinePoint{
		{"Linear", 60, 150e9, .6}, {"Mul+Add", .2, 3e9, .1}, {"Mul+Add again", .21, 3e9, .1},
	}}))
}

func TestRooflineOfSeveralTypes(t *testing.T) {
	pinned(t, "roofline-types", Roofline("Roofline: cuda:0", RooflineData{
		FLOPs: 50e12, FLOPsName: "float32", Bytes: 4e12,
		Ceilings: []RooflineCeiling{{"bfloat16", 760e12}, {"float16", 755e12}, {"TF32", 400e12}, {"none", math.NaN()}},
		Points:   []RooflinePoint{{"Linear", 300, 600e12, .6}, {"Mul+Add", .2, 6e11, .1}},
	}))
}

// Whatever is missing, the figures stand.
func TestProfileFiguresOfBadNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, f := range map[string]*Figure{
		"no lanes":      Timeline("t"),
		"empty lane":    Timeline("t", Lane{Name: "a"}),
		"bad blocks":    Timeline("t", Lane{"a", []Block{{nan, 1, "", ""}, {2, 1, "", ""}, {0, inf, "", ""}}}),
		"one moment":    Timeline("t", Lane{"a", []Block{{3, 3, "x", "k"}}}),
		"no areas":      Areas("a"),
		"empty area":    Areas("a", Series{}),
		"bad areas":     Areas("a", Series{Y: []float64{nan, inf, -1}}, Series{Y: []float64{1}}),
		"no roof":       Roofline("r", RooflineData{}),
		"bad roof":      Roofline("r", RooflineData{FLOPs: nan, Bytes: -1, Points: []RooflinePoint{{"x", 0, nan, nan}}}),
		"roof, no work": Roofline("r", RooflineData{FLOPs: 1e9, Bytes: 1e9}),
		"bad ceilings":  Roofline("r", RooflineData{FLOPs: 1, Ceilings: []RooflineCeiling{{"a", 1}, {"b", -1}, {"c", inf}}}),
		"far below":     Roofline("r", RooflineData{FLOPs: 1e9, Bytes: 1e9, Points: []RooflinePoint{{"x", 1e-9, 1e-3, 5}}}),
	} {
		if svg := f.SVG(); !strings.Contains(svg, "</svg>") || len(f.PNG()) == 0 {
			t.Errorf("%s: %s", name, svg)
		}
	}
}

// Very many blocks are drawn as what can be seen of them.
func TestTimelineOfManyBlocks(t *testing.T) {
	l := Lane{Name: "cpu"}
	for i := range 100_000 {
		l.Blocks = append(l.Blocks, Block{float64(i), float64(i) + .9, "op", "forward"})
	}
	if n := len(Timeline("many", l).SVG()); n > 200_000 {
		t.Errorf("the SVG has %d bytes", n)
	}
}
