package plots

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/quernlab/quern/display"
)

// TestHTML checks that a figure fits, follows the theme of the page and has alternative text.
func TestHTML(t *testing.T) {
	t.Setenv(formatEnv, "")
	f := Line("a <b> & c", []float64{1, 2, 4})
	page, _ := f.MIMEBundle()["text/html"].(string)
	for _, want := range []string{`alt="a &lt;b&gt; &amp; c: 3 points from 1 to 4"`, "max-width:100%", "data:image/svg+xml,%3C", "[data-jp-theme-light=true] .quern-figure{color-scheme:only light}"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %.300s", want, page)
		}
	}
	for _, mime := range []string{"image/png", "image/svg+xml"} {
		if m, _ := f.MIMEMetadata()[mime].(map[string]any); m["alt"] != f.String() {
			t.Errorf("%s: metadata %v", mime, m)
		}
	}
	if _, has := f.As(SVG).MIMEBundle()["text/html"]; has {
		t.Error("the format is SVG, but the bundle has HTML")
	}
}

// TestPalette checks that PNGs with a palette look the same.
func TestPalette(t *testing.T) {
	loss := make([]float64, 3000)
	for i := range loss {
		loss[i] = 2*math.Exp(-float64(i)/500) + .1*math.Sin(float64(i*i))
	}
	f := Training(TrainingData{Loss: Series{Y: loss}, ValidationLoss: Series{X: []float64{500, 1500}, Y: []float64{.8, .3}}})
	c := newPNGCanvas(f.points())
	var whole bytes.Buffer
	f.draw(draw.New(c))
	if err := png.Encode(&whole, c.Image()); err != nil {
		t.Fatal(err)
	}
	small := f.PNG()
	t.Logf("%d bytes with a palette, %d without", len(small), whole.Len())
	if len(small) > whole.Len()/2 {
		t.Errorf("%d bytes with a palette, %d without", len(small), whole.Len())
	}
	got, err := png.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := got.ColorModel().(color.Palette); !ok {
		t.Errorf("color model %v", got.ColorModel())
	}
	want, off := c.Image(), 0
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			r, g, b, _ := got.At(x, y).RGBA()
			p, q, s, _ := want.At(x, y).RGBA()
			if max(apart(r, p), apart(g, q), apart(b, s)) > 42<<8 {
				off++
			}
		}
	}
	if off > 0 {
		t.Errorf("%d pixels have another color", off)
	}
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// TestStepped checks that each value holds until the next one.
func TestStepped(t *testing.T) {
	got := curve{points: []point{{0, 3}, {2, 1}, {5, 1}}, stepped: true}.drawn(axes())
	want := []point{{0, 3}, {2, 3}, {2, 1}, {5, 1}, {5, 1}}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// TestRangeX checks that the axis covers the range set.
func TestRangeX(t *testing.T) {
	if x := (settings{rangeX: limits{0, 100, true}}).shown(limits{1, 5, true}); x.lo != 0 || x.hi != 100 {
		t.Errorf("range %v", x)
	}
	if f := Line("", nil).RangeX(3, math.NaN()); f.settings.rangeX.some {
		t.Error("NaN is accepted as a range")
	}
}

// TestCovers measures how much of a curve text covers.
func TestCovers(t *testing.T) {
	box := vg.Rectangle{Min: vg.Point{X: 10, Y: 10}, Max: vg.Point{X: 20, Y: 20}}
	through := [][]vg.Point{{{X: 0, Y: 15}, {X: 40, Y: 15}}}
	if got := covers(box, through); math.Abs(got-10) > 1e-9 {
		t.Errorf("%v of the curve is covered", got)
	}
	if got := covers(box, [][]vg.Point{{{X: 0, Y: 30}, {X: 40, Y: 30}}}); got != 0 {
		t.Errorf("%v of a curve above the box is covered", got)
	}
}

// TestClipped checks that outliers do not extend the range.
func TestClipped(t *testing.T) {
	values := []float64{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 1000}
	if l := clipped(limits{1, 1000, true}, values); l.hi > 4 || l.lo != 1 {
		t.Errorf("range %v", l)
	}
	if l := clipped(limits{1, 1.9, true}, values[:10]); l.hi != 1.9 {
		t.Errorf("range %v", l)
	}
}

// TestFigureProgress checks that the bar is above the figure until the end.
func TestFigureProgress(t *testing.T) {
	p := display.Progress{Label: "runs", Done: 1, Total: 4, Passed: 10 * time.Second}
	f := Line("loss", []float64{1, 2})
	_, before := f.points()
	if svg := f.Progress(p).SVG(); !strings.Contains(svg, "1/4  00:10, 00:30 left") {
		t.Error("no time left")
	}
	if _, height := f.points(); height != before+progressHeight {
		t.Errorf("height %v, was %v", height, before)
	}
	p.Ended = true
	if svg := f.Progress(p).SVG(); strings.Contains(svg, "00:10") {
		t.Error("the bar remains after the end")
	}
}
