package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"strings"
	"testing"
)

// The second frame of an animation contains only the pixels that differ from the first, and
// together they show the second image.
func TestAnimate(t *testing.T) {
	t.Parallel()
	first, second := image.NewRGBA(image.Rect(0, 0, 40, 20)), image.NewRGBA(image.Rect(0, 0, 40, 20))
	for i := range first.Pix {
		first.Pix[i], second.Pix[i] = 255, 255
	}
	blue := color.RGBA{B: 200, A: 255}
	for _, p := range []image.Point{{6, 8}, {14, 12}} { // two by two pixels each, one in the animation
		draw.Draw(second, image.Rectangle{p, p.Add(image.Pt(2, 2))}, image.NewUniform(blue), image.Point{}, draw.Src)
	}
	b, err := animate(image.NewRGBA(image.Rectangle{}), []image.Image{first, second, second})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != 3 || g.Config.Width != 20 || g.Config.Height != 10 {
		t.Fatalf("%d frames of %d × %d", len(g.Image), g.Config.Width, g.Config.Height)
	}
	if want := image.Rect(3, 4, 8, 7); g.Image[1].Rect != want {
		t.Errorf("the second frame is %v, want %v", g.Image[1].Rect, want)
	}
	for _, p := range []struct {
		x, y int
		want color.RGBA
	}{{3, 4, blue}, {7, 6, blue}, {5, 5, color.RGBA{255, 255, 255, 255}}} {
		if got := color.RGBAModel.Convert(g.Image[1].At(p.x, p.y)); got != p.want {
			t.Errorf("pixel %d, %d is %v, want %v", p.x, p.y, got, p.want)
		}
	}
	if g.Delay[2] != lastTime {
		t.Errorf("the last frame is shown for %d", g.Delay[2])
	}
}

// The cell has the model and the training, as a notebook has them, and is drawn within the width of the figure.
func TestCell(t *testing.T) {
	t.Parallel()
	code, err := cell()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(code, "\n")
	if lines[0] != "model := nn.Sequential(" || lines[len(lines)-1] != ")" || !strings.Contains(code, "\n    accel.Live(") {
		t.Errorf("the cell is\n%s", code)
	}
	const width = 1280
	m, err := drawCell(code, width)
	if err != nil {
		t.Fatal(err)
	}
	if m.Bounds().Dx() != width {
		t.Errorf("it is %v", m.Bounds())
	}
	for y := 2 * margin; y < m.Bounds().Dy()-2*margin; y++ { // nothing is written beyond the border
		if got := m.At(width-margin-margin/2, y); got != background {
			t.Fatalf("the pixel at the right edge in line %d is %v", y, got)
		}
	}
}
