package active

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
)

// picture is an example that is an image.
type picture struct {
	number, total int
	image         image.Image
}

// leastSide is the size in pixels from which an image is not made larger, and mostSide
// the size beyond which it is not: of a long sequence that is shown as an image the
// other side is short.
const (
	leastSide = 160
	mostSide  = 1600
)

// String says which question it is.
func (p picture) String() string {
	size := p.image.Bounds().Size()
	return fmt.Sprintf("question %d of %d: a picture of %d × %d", p.number, p.total, size.X, size.Y)
}

// MIMEBundle is the image, a small one with larger pixels.
func (p picture) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": p.String()}
	var b bytes.Buffer
	if err := png.Encode(&b, enlarged(p.image)); err == nil { // else the text must do
		bundle["image/png"] = b.Bytes()
	}
	return bundle
}

// enlarged is an image with each pixel as a square of several.
func enlarged(m image.Image) image.Image {
	from := m.Bounds()
	times := min(leastSide/max(1, min(from.Dx(), from.Dy())), mostSide/max(1, from.Dx(), from.Dy()))
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

// row is an example that is no image.
type row struct {
	number, total int
	numbers       []float32
}

// maxNumbers is how many numbers of a row are shown.
const maxNumbers = 40

// String is the numbers.
func (r row) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "question %d of %d:", r.number, r.total)
	for k, v := range r.numbers {
		if k == maxNumbers {
			fmt.Fprintf(&b, " … (%d numbers)", len(r.numbers))
			break
		}
		fmt.Fprintf(&b, " %.4g", v)
	}
	return b.String()
}

// MIMEBundle shows the numbers as text.
func (r row) MIMEBundle() map[string]any { return map[string]any{"text/plain": r.String()} }
