package active

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"

	"github.com/quernlab/quern/display"
)

// imageExample is an example that is an image.
type imageExample struct {
	number, total int
	image         image.Image
}

// minSide is the size in pixels up to which an image is enlarged, and mostSide the maximum of
// the enlarged size: a long sequence shown as an image has one short side.
const (
	minSide = 160
	maxSide = 1600
)

// String describes the question.
func (p imageExample) String() string {
	size := p.image.Bounds().Size()
	return fmt.Sprintf("question %d of %d: an image of %d × %d", p.number, p.total, size.X, size.Y)
}

// MIMEBundle returns the image, enlarged if it is small.
func (p imageExample) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": p.String()}
	var b bytes.Buffer
	if err := png.Encode(&b, enlarged(p.image)); err == nil { // otherwise only the text
		bundle["image/png"] = b.Bytes()
	}
	return bundle
}

// enlarged returns an image in which each pixel is a square of several.
func enlarged(m image.Image) image.Image {
	from := m.Bounds()
	times := min(minSide/max(1, min(from.Dx(), from.Dy())), maxSide/max(1, from.Dx(), from.Dy()))
	if times < 2 {
		return m
	}
	to := image.NewRGBA(image.Rect(0, 0, from.Dx()*times, from.Dy()*times))
	for y := range to.Rect.Dy() {
		for x := range to.Rect.Dx() {
			to.Set(x, y, m.At(from.Min.X+x/times, from.Min.Y+y/times))
		}
	}
	return to
}

// maxValues is the number of values of a row that are shown.
const maxValues = 40

// vectorExample returns an example that is not an image as text.
func vectorExample(number, total int, values []float32) display.Content {
	var b strings.Builder
	fmt.Fprintf(&b, "question %d of %d:", number, total)
	for k, v := range values {
		if k == maxValues {
			fmt.Fprintf(&b, " … (%d values)", len(values))
			break
		}
		fmt.Fprintf(&b, " %.4g", v)
	}
	return display.Text(b.String())
}
