package plots

import (
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"
)

// square returns an image of n×n pixels with one white corner.
func square(n int) image.Image {
	m := image.NewGray(image.Rect(5, 5, 5+n, 5+n)) // bounds that do not begin at 0
	for y := range n / 2 {
		for x := range n / 2 {
			m.SetGray(5+x, 5+y, color.Gray{Y: 255})
		}
	}
	return m
}

func TestPredictions(t *testing.T) {
	pinned(t, "predictions", Predictions("Predictions", []image.Image{square(4), square(4), nil}, []int{0, 1, 7}, []int{0, 0, 1}, []string{"cat", "dog"}))
}

func TestPredictionsCount(t *testing.T) {
	images := make([]image.Image, maxImages+20)
	predicted := make([]int, len(images)) // all class 0
	actual := make([]int, len(images)-10) // unknown for the last ones
	actual[0], actual[1] = 1, 2
	f := Predictions("", images, predicted, actual, nil)
	if got, want := f.String(), "108 of 110 right, the first 100 shown; in red: actual → guess"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	style, svg, _ := strings.Cut(f.SVG(), "</style>")
	if !strings.Contains(svg, "1 → 0") || strings.Count(svg, wrongLight) != 4 {
		t.Errorf("%d marks in red, want a frame and a caption for each of two", strings.Count(svg, wrongLight))
	}
	if !strings.Contains(style, wrongDark) {
		t.Errorf("%s has no red for dark paper", style)
	}
}

// The actual and the predicted class are on two lines if one line is too short.
func TestPredictionsWithLongNames(t *testing.T) {
	t.Parallel()
	clothes := []string{"T-shirt/top", "pullover", "ankle boot", "coat"}
	f := Predictions("", []image.Image{square(4), square(4), square(4)}, []int{0, 2, 3}, []int{1, 0, 3}, clothes)
	saneSVG(t, f)
	for _, line := range []string{">pullover<", ">→ T-shirt/top<", ">T-shirt/top<", ">→ ankle boot<", ">coat<"} {
		if !strings.Contains(f.SVG(), line) {
			t.Errorf("no caption %s", line)
		}
	}
}

func TestImagesKeepTheirShape(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1000, 10}, {10, 700}} {
		m := image.NewRGBA(image.Rect(0, 0, size[0], size[1]))
		f := Images([]image.Image{m, m}, fmt.Sprint(size))
		sane(t, f)
		if b := downscaled(m).Bounds(); b.Dx() > maxSide || b.Dy() > maxSide {
			t.Errorf("an image of %v is stored with %v pixels", size, b.Size())
		}
	}
	if downscaled(image.NewGray(image.Rectangle{})) != nil || downscaled(nil) != nil {
		t.Error("an image without pixels is stored")
	}
}

// An image is downscaled by the mean, so that no line of it is lost.
func TestDownscaledIsTheMean(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 2*maxSide, 2))
	for x := range 2 * maxSide {
		m.SetGray(x, x%2, color.Gray{Y: 200})
	}
	r, _, _, _ := downscaled(m).At(7, 0).RGBA()
	if got := r >> 8; got != 100 {
		t.Errorf("the mean is %d, want 100", got)
	}
}
