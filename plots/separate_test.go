package plots

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// writing is a horizontal text in an SVG, in points.
type writing struct {
	label string
	box   vg.Rectangle
}

var textElement = regexp.MustCompile(`<text x="([^"]+)" y="([^"]+)" font-size="([^"]+)"([^>]*)>([^<]*)</text>`)

// writings returns the horizontal texts of a figure. Their boxes have the height of a digit.
func writings(t testing.TB, f *Figure) (all []writing) {
	t.Helper()
	for _, m := range textElement.FindAllStringSubmatch(f.SVG(), -1) {
		var n [3]float64
		for i := range n {
			v, err := strconv.ParseFloat(m[i+1], 64)
			if err != nil {
				t.Fatal(err)
			}
			n[i] = v
		}
		style := textStyle(n[2], inkText)
		if strings.Contains(m[4], "bold") {
			style = titleStyle()
		}
		x, y, label := vg.Length(n[0]), vg.Length(n[1]), html.UnescapeString(m[5])
		all = append(all, writing{label, vg.Rectangle{Min: vg.Point{X: x, Y: y - .7*vg.Length(n[2])}, Max: vg.Point{X: x + style.Width(label), Y: y}}})
	}
	return all
}

// legible checks that no text of a figure touches another one or ends outside of the figure.
func legible(t testing.TB, f *Figure) {
	t.Helper()
	width, height := f.points()
	all := writings(t, f)
	for i, a := range all {
		if a.box.Min.X < 0 || a.box.Min.Y < 0 || a.box.Max.X > width+.1 || a.box.Max.Y > height+.1 {
			t.Errorf("%q is cut off: %v in a figure of %v × %v", a.label, a.box, width, height)
		}
		for _, b := range all[:i] {
			if a.box.Min.X < b.box.Max.X && b.box.Min.X < a.box.Max.X && a.box.Min.Y < b.box.Max.Y && b.box.Min.Y < a.box.Max.Y {
				t.Errorf("%q at %v touches %q at %v", a.label, a.box, b.label, b.box)
			}
		}
	}
}

// The labels of ticks do not touch, however low or narrow a figure is and however long its
// numbers are.
func TestTickLabelsDoNotTouch(t *testing.T) {
	curve := func(n int, low, high float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = low + (high-low)*float64(i)/float64(n-1)
		}
		return y
	}
	for _, size := range [][2]float64{{0, 0}, {0, 110}, {0, 130}, {200, 0}, {150, 110}} {
		for _, y := range [][]float64{curve(50, 0, .00166), curve(50, 0, 1.4), curve(50, -3e7, 3e7), curve(50, 1e9, 1e9+1), curve(50, 1e-5, 1e5)} {
			for name, f := range map[string]*Figure{
				"line":     Lines("line", Series{X: curve(50, 0, 23_450_000), Y: y}),
				"moved":    Lines("moved", Series{X: curve(50, 1.7e18, 1.7e18+1e9), Y: y}).XLabel("time"),
				"log":      Lines("log", Series{X: curve(50, 1, 1e7), Y: y}).LogX().LogY(),
				"bands":    Bands("bands", Band{Series: Series{Y: y}}),
				"scatter":  Scatter("scatter", y, y),
				"training": Training(TrainingData{Loss: Series{Y: y}, Total: 1_234_567}),
			} {
				t.Run(fmt.Sprint(name, size, y[49]), func(t *testing.T) { legible(t, f.Size(size[0], size[1])) })
			}
		}
	}
}

// Values that differ little from each other, compared with their size, have their place on the
// axis, and the axis says from where it counts.
func TestAxesFarFromZero(t *testing.T) {
	for _, test := range []struct {
		from, step float64
		label      string
	}{
		{1.7e9, 1e-3, "x (+1\u00a0700\u00a0000\u00a0000)"},
		{1.7e18, 1e9, "x (+1.7e18)"},
		{1, 1e-10, "x (+1)"},
		{.1, 1e-12, "x (+0.1)"},
		{-1, 1e-10, "x (−1)"},
		{3e-5, 1e-14, "x (+3e−5)"},
	} {
		x, y := make([]float64, 20), make([]float64, 20)
		for i := range x {
			x[i], y[i] = test.from+float64(i)*test.step, float64(i)
		}
		if test.from < 0 {
			for i := range x {
				x[i] = test.from - float64(i)*test.step
			}
		}
		f := Lines("far from zero", Series{X: x, Y: y}).XLabel("x")
		width, _ := f.points()
		longest := vg.Length(0)
		found := false
		for _, w := range writings(t, f) {
			found = found || w.label == test.label
			if strings.Trim(w.label, "−0123456789.e ") == "" {
				longest = max(longest, w.box.Max.X-w.box.Min.X)
			}
		}
		if !found {
			t.Errorf("from %v: no label %q in %v", test.from, test.label, writings(t, f))
		}
		if longest > width/12 {
			t.Errorf("from %v: a tick label is %v wide", test.from, longest)
		}
		// The curve goes from the left end of the axis to its right end.
		left, right := vg.Length(math.Inf(1)), vg.Length(0)
		axes := f.settings.curveAxes(limits{min(x[0], x[19]), max(x[0], x[19]), true}.widened(false), limits{0, 19, true}, false)
		for _, v := range x {
			at := vg.Length(axes.X.Norm(v))
			left, right = min(left, at), max(right, at)
		}
		if left > .01 || right < .99 {
			t.Errorf("from %v: the curve goes from %v to %v of the axis", test.from, left, right)
		}
	}
}
