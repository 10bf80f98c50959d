package plots

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
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

// Names cover no dots, avoid the ceilings, and are left out where
// there is no space.
func TestRooflineNames(t *testing.T) {
	t.Parallel()
	f := Roofline("", RooflineData{FLOPs: 40e9, Bytes: 4e9, Points: []RooflinePoint{
		{"near the slope", 3, 13e9, .3}, {"a dot at its right", 4.2, 13e9, .2},
		{"high", 40, 60e9, .3}, {"as high", 42, 62e9, .1}, {"lowest", 1, .05e9, .01},
	}})
	saneSVG(t, f)
	for _, name := range []string{"near the slope", "a dot at its right", "high", "lowest"} {
		if !strings.Contains(f.SVG(), ">"+name+"<") {
			t.Errorf("%q is not drawn", name)
		}
	}

	box := func(x, y, width, height vg.Length) vg.Rectangle {
		return rectAround(vg.Point{X: x, Y: y}, width, height)
	}
	canvas, slope := box(50, 50, 100, 100), [][]vg.Point{{{X: 0, Y: 0}, {X: 60, Y: 60}, {X: 100, Y: 60}}}
	for _, tt := range []struct {
		name  string
		dot   vg.Rectangle
		taken []vg.Rectangle
		index int // into labelBoxes; -1: none
	}{
		{"right", box(10, 80, 4, 4), nil, 0},
		{"left at the right border", box(95, 80, 4, 4), nil, 1},
		{"left of a dot", box(50, 80, 4, 4), []vg.Rectangle{box(60, 80, 4, 4)}, 1},
		{"left of the slope", box(40, 44, 4, 4), nil, 1},
		{"across the slope rather than nowhere", box(5, 8, 4, 4), []vg.Rectangle{box(5, 20, 9, 9)}, 0},
		{"nowhere", box(50, 50, 4, 4), []vg.Rectangle{canvas}, -1},
	} {
		boxes := labelBoxes(tt.dot, 20, 8, canvas)
		got, crossed := leastCovered(boxes, canvas, tt.taken, slope)
		if ok := !math.IsInf(crossed, 1); ok != (tt.index >= 0) || ok && got != boxes[tt.index] {
			t.Errorf("%s: %v of %v", tt.name, got, boxes)
		}
	}
}

func TestRooflineOfSeveralTypes(t *testing.T) {
	pinned(t, "roofline-types", Roofline("Roofline: cuda:0", RooflineData{
		FLOPs: 50e12, FLOPsName: "float32", Bytes: 4e12,
		Ceilings: []RooflineCeiling{{"bfloat16", 760e12}, {"float16", 755e12}, {"TF32", 400e12}, {"none", math.NaN()}},
		Points:   []RooflinePoint{{"Linear", 300, 600e12, .6}, {"Mul+Add", .2, 6e11, .1}},
	}))
}

// The figures are drawn whatever is missing.
func TestProfileFiguresOfBadValues(t *testing.T) {
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

// Very many blocks are merged to what is visible.
func TestTimelineOfManyBlocks(t *testing.T) {
	l := Lane{Name: "cpu"}
	for i := range 100_000 {
		l.Blocks = append(l.Blocks, Block{float64(i), float64(i) + .9, "op", "forward"})
	}
	if n := len(Timeline("many", l).SVG()); n > 200_000 {
		t.Errorf("the SVG has %d bytes", n)
	}
}

// No ceiling crosses a name that can be placed elsewhere.
func TestRooflineNamesAndCeilings(t *testing.T) {
	d := RooflineData{FLOPs: 13.4e9, Bytes: 1.14e9, Points: []RooflinePoint{
		{"look.0 Conv2D(8, 3, Stride(2)) backward: Conv2DWeightGradient", .7, .8e9, .3},
		{"AdamW: MulScalar+MulScalar+Add+16 more", 3, .8e9, .3},
		{"look.0 Conv2D(8, 3, Stride(2)) backward: Sum", .25, 6e9, .1},
		{"look.1 ReLU() backward: ReLUGradient", .08, 1e9, .1},
	}}
	k := Roofline("r", d).kind.(roofline)
	svg := Roofline("r", d).SVG()
	for _, q := range k.Points {
		if !strings.Contains(svg, ">"+q.Name[:10]) {
			t.Errorf("%s has no name", q.Name)
		}
	}
	if strings.Contains(svg, `fill="#fefefe"`) {
		t.Error("a name lies on a ceiling")
	}
}
