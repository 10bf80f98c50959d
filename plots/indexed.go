package plots

import (
	"cmp"
	"image"
	"image/color"
	"slices"
)

// indexed converts an opaque image to a palette of at most 256 colors, which needs a third of
// the bytes. It returns nil if the difference would be visible, as in a photograph. A figure
// has only a few colors, and mixtures of them at the edges of its letters and lines.
func indexed(m *image.RGBA) *image.Paletted {
	bounds := m.Bounds()
	counts := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; {
			c, run := m.RGBAAt(x, y), 1 // the background has long runs
			for x += 1; x < bounds.Max.X && m.RGBAAt(x, y) == c; x++ {
				run++
			}
			counts[c] += run
		}
	}
	all := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	const colors = 256
	if len(all) > 64*colors {
		return nil
	}
	// The most frequent colors, leaving out those close to one already in the palette.
	var palette color.Palette
	near := map[color.RGBA]uint8{} // from color to palette index
	// At 12 two colors beside each other can hardly be distinguished, and the file of a figure is
	// a fifth smaller than with all its colors.
	for _, apart := range [...]int{12, 18} {
		palette = append(palette[:0], color.RGBAModel.Convert(paper)) // exactly white
		for _, c := range all {
			if len(palette) == colors {
				break
			}
			if _, d := nearest(palette, c); d > apart*apart {
				palette = append(palette, c)
			}
		}
		if len(palette) < colors {
			break
		}
	}
	const visible = 24 // difference in each channel
	for _, c := range all {
		i, d := nearest(palette, c)
		if d > 3*visible*visible {
			return nil
		}
		near[c] = uint8(i)
	}
	p := image.NewPaletted(bounds, palette)
	last, index := color.RGBA{}, uint8(0)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			if c := m.RGBAAt(x, y); c != last {
				last, index = c, near[c]
			}
			p.SetColorIndex(x, y, index)
		}
	}
	return p
}

// nearest returns the index of the palette color nearest to c, and the squared distance.
func nearest(palette color.Palette, c color.RGBA) (at, distance int) {
	distance = 1 << 30
	for i, q := range palette {
		p := q.(color.RGBA)
		r, g, b := int(p.R)-int(c.R), int(p.G)-int(c.G), int(p.B)-int(c.B)
		if d := r*r + g*g + b*b; d < distance {
			at, distance = i, d
		}
	}
	return at, distance
}
