package active

import (
	"fmt"
	"image"
	"strings"
)

// pictures are examples as images.
func (p *Pool) pictures(pick []int) []image.Image {
	images := make([]image.Image, len(pick))
	for k, i := range pick {
		images[k] = p.set.Image(i)
	}
	return images
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
