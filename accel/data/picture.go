package data

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

// Image draws example i. A shape of [1 h w] or [h w] is a grey image and
// [3 h w] an RGB one, with 0 as black and 1 as white; numbers outside are
// clipped. Any other shape is drawn as one row of grey pixels from the lowest
// to the highest number. It panics when i is not in [0, Len).
func (s *Set) Image(i int) image.Image {
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

// brightness maps low … high to 0 … 255; what is not a number is black.
func brightness(v, low, high float32) uint8 {
	t := (v - low) / (high - low)
	if !(t > 0) {
		return 0
	}
	return uint8(math.Round(float64(min(t, 1)) * 255))
}

// String says in one line what the set holds.
func (s *Set) String() string {
	text := fmt.Sprintf("%s: %d examples of shape %v", s.name, s.Len(), s.shape)
	if n := s.Targets(); n > 0 {
		return text + fmt.Sprintf(", %d targets each", n)
	}
	return text + fmt.Sprintf(", %d classes", len(s.classes))
}

// MIMEBundle shows the set: its line, and for images a sheet of the first
// ones.
func (s *Set) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": s.String()}
	if sheet := s.sheet(); sheet != nil {
		var b bytes.Buffer
		if err := png.Encode(&b, sheet); err == nil {
			bundle["image/png"] = b.Bytes()
		}
	}
	return bundle
}

const (
	sheetColumns = 12 // at most
	sheetRows    = 4
	sheetWidth   = 480 // pixels that a row should fill
	sheetGap     = 2
)

// sheet is a contact sheet of the first examples, or nil where they are no
// images of a size to look at.
func (s *Set) sheet() image.Image {
	var height, width int
	switch n := len(s.shape); {
	case n == 2, n == 3 && (s.shape[0] == 1 || s.shape[0] == 3):
		height, width = s.shape[n-2], s.shape[n-1]
	}
	if s.Len() == 0 || min(height, width) < 2 || max(height, width) > sheetWidth {
		return nil
	}
	columns := min(sheetColumns, sheetWidth/width)
	zoom := max(1, sheetWidth/columns/width)
	shown := min(s.Len(), columns*sheetRows)
	rows := (shown + columns - 1) / columns
	sheet := image.NewRGBA(image.Rect(0, 0, columns*(width*zoom+sheetGap)-sheetGap, rows*(height*zoom+sheetGap)-sheetGap))
	for i := range shown {
		m := s.Image(i)
		left, top := i%columns*(width*zoom+sheetGap), i/columns*(height*zoom+sheetGap)
		for y := range height * zoom {
			for x := range width * zoom {
				sheet.Set(left+x, top+y, m.At(x/zoom, y/zoom))
			}
		}
	}
	return sheet
}
