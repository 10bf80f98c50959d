package plots

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scatter draws a dot for each pair of x and y.
func Scatter(title string, x, y []float64) *Figure {
	if x == nil {
		x = []float64{} // not the default 0, 1, 2…: missing x must be reported
	}
	return Scatters(title, Series{X: x, Y: y})
}

// Scatters draws several series as dots, one color for each: the classes of an embedding, for
// instance. More than 5 000 dots are drawn as one image inside the figure.
func Scatters(title string, series ...Series) *Figure {
	return newFigure(title, scatter{copied(series)})
}

type scatter struct{ series []named }

func (scatter) size() (width, height float64) { return 560, 400 }

func (k scatter) sections(l settings) []section {
	var x, y limits
	n := 0
	for _, s := range k.series {
		ranges(&x, &y, s.points, l.logX, l.logY)
		n += len(s.points)
	}
	p := axes()
	p.X.Label.Text = l.labelX
	scale(&p.X, x.padded(l.logX), l.logX, ticker(7, l.logX))
	scale(&p.Y, y.padded(l.logY), l.logY, ticker(6, l.logY))
	p.Add(grid{vertical: true})

	radius, opacity := dotStyle(n)
	var bad []point
	var all cloud
	for i, s := range k.series {
		parts, gone := runs(s.points, l.logX, l.logY)
		bad = append(bad, gone...)
		for _, part := range parts {
			all = append(all, spots{part, radius, at(hue(i), opacity)})
		}
	}
	p.Add(all, undrawable{bad})
	if !y.some {
		showEmpty(p, "no data")
	}
	return l.onePanel(p, counted(n, "point"), append(legendOf(k.series, nil), notDrawn(bad)...))
}

// dotStyle returns smaller and fainter dots for more points.
func dotStyle(n int) (radius vg.Length, opacity float64) {
	switch {
	case n <= 100:
		return 2.6, .85
	case n <= 1000:
		return 2.1, .65
	case n <= maxDots:
		return 1.7, .5
	}
	return 1.2, .35
}

// padded returns the range with a margin around the dots.
func (l limits) padded(log bool) limits {
	l = l.widened(log)
	if log {
		pad := .04 * (math.Log(l.hi) - math.Log(l.lo))
		return limits{math.Exp(math.Log(l.lo) - pad), math.Exp(min(math.Log(l.hi)+pad, math.Log(math.MaxFloat64))), true}
	}
	pad := (l.hi - l.lo) * .04
	return limits{l.lo - pad, l.hi + pad, true}
}

// maxDots is the number of dots above which they are drawn as one image.
const maxDots = 5000

// cloud draws dots of several colors.
type cloud []spots

func (m cloud) Plot(c draw.Canvas, p *plot.Plot) {
	n := 0
	for _, s := range m {
		n += len(s.points)
	}
	if n <= maxDots {
		for _, s := range m {
			s.Plot(c, p)
		}
		return
	}
	c.DrawImage(c.Rectangle, m.raster(c, p))
}

// raster draws the dots as pixels.
func (m cloud) raster(c draw.Canvas, p *plot.Plot) image.Image {
	const density = 2 // pixels per point: between normal and high-density screens, at half the bytes of the latter
	size := c.Rectangle.Size()
	img := image.NewNRGBA(image.Rect(0, 0, max(1, int(float64(size.X)*density)), max(1, int(float64(size.Y)*density))))
	for _, s := range m {
		r := float64(s.radius) * density
		clr := color.NRGBAModel.Convert(s.color).(color.NRGBA)
		for _, q := range toCanvas(c, p, s.points) {
			x, y := float64(q.X-c.Min.X)*density, float64(c.Max.Y-q.Y)*density
			for py := int(y - r); py <= int(y+r); py++ {
				for px := int(x - r); px <= int(x+r); px++ {
					// The border of the dot fades over one pixel.
					cover := r + .5 - math.Hypot(float64(px)+.5-x, float64(py)+.5-y)
					if (image.Point{X: px, Y: py}).In(img.Rect) && cover > 0 {
						blend(img, px, py, clr, min(cover, 1))
					}
				}
			}
		}
	}
	return img
}

// blend draws a color over a pixel.
func blend(m *image.NRGBA, x, y int, c color.NRGBA, cover float64) {
	below := m.NRGBAAt(x, y)
	a, b := cover*float64(c.A)/255, float64(below.A)/255
	sum := a + b*(1-a)
	mix := func(v, w uint8) uint8 { return uint8((float64(v)*a+float64(w)*b*(1-a))/sum + .5) }
	m.SetNRGBA(x, y, color.NRGBA{R: mix(c.R, below.R), G: mix(c.G, below.G), B: mix(c.B, below.B), A: alpha(sum)})
}
