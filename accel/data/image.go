package data

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Image draws example i. A shape of [1 h w] or [h w] is a gray image and [3 h w] an RGB image,
// with 0 as black and 1 as white; other values are clipped. Any other shape is drawn as one row
// of gray pixels, scaled from the lowest to the highest value. It panics if i is not in [0,
// Len).
func (s *Dataset) Image(i int) image.Image {
	return draw(s.Example(i), s.shape)
}

func draw(numbers []float32, shape []int) image.Image {
	switch {
	case len(shape) == 3 && shape[0] == 3:
		return drawRGB(numbers, shape[1], shape[2])
	case len(shape) == 3 && shape[0] == 1:
		return drawGray(numbers, shape[1], shape[2], 0, 1)
	case len(shape) == 2:
		return drawGray(numbers, shape[0], shape[1], 0, 1)
	}
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range numbers {
		low, high = min(low, v), max(high, v)
	}
	return drawGray(numbers, 1, len(numbers), low, high)
}

func drawGray(numbers []float32, height, width int, low, high float32) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i, v := range numbers {
		m.Pix[i] = brightness(v, low, high)
	}
	return m
}

func drawRGB(numbers []float32, height, width int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	plane := height * width
	for i := range plane {
		m.SetRGBA(i%width, i/width, color.RGBA{
			R: brightness(numbers[i], 0, 1),
			G: brightness(numbers[plane+i], 0, 1),
			B: brightness(numbers[2*plane+i], 0, 1),
			A: 255,
		})
	}
	return m
}

// brightness maps low … high to 0 … 255; NaN is black.
func brightness(v, low, high float32) uint8 {
	t := (v - low) / (high - low)
	if !(t > 0) {
		return 0
	}
	return uint8(math.Round(float64(min(t, 1)) * 255))
}

// String describes the content of the data set in one line.
func (s *Dataset) String() string {
	return s.name + ": " + s.holds()
}

// holds describes the content of the data set.
func (s *Dataset) holds() string {
	text := fmt.Sprintf("%s examples of shape %v", display.Integer(s.Len()), s.Shape())
	if n := s.Targets(); n > 0 {
		return text + fmt.Sprintf(", %d targets each", n)
	}
	if s.SequenceLength() > 0 {
		return text + fmt.Sprintf(", a label of %d classes at each position", len(s.classes))
	}
	text += fmt.Sprintf(", %d classes", len(s.classes))
	if words := s.transformed(); words != "" {
		text += ", by " + words
	}
	return text
}

// Report returns the description of the data set and, for images, the first ones with their class names.
func (s *Dataset) Report() *display.Report {
	r := new(display.Report).Alt(s.String())
	if sheet := s.sheet(); sheet != nil {
		r.Figure(sheet)
	}
	return r
}

const (
	sheetImages = 20
	sheetSide   = 512 // maximum side in pixels of images that are shown
)

// sheet returns a figure of the first examples, or nil if they are not images of a suitable
// size.
func (s *Dataset) sheet() *plots.Figure {
	n := len(s.shape)
	if s.Len() == 0 || n < 2 || n > 3 || n == 3 && s.shape[0] != 1 && s.shape[0] != 3 {
		return nil
	}
	if height, width := s.shape[n-2], s.shape[n-1]; min(height, width) < 2 || max(height, width) > sheetSide {
		return nil
	}
	var images []image.Image
	var captions []string
	for i := range min(s.Len(), sheetImages) {
		images = append(images, s.Image(i))
		if s.Unlabeled() {
			continue
		}
		if c := s.Label(i); c >= 0 && c < len(s.classes) {
			captions = append(captions, s.classes[c])
		}
	}
	return plots.Images(images, captions...).Title(s.name).Subtitle(s.holds())
}
