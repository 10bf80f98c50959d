package plots

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The two themes. The SVG has both; the PNG uses the light one.
const (
	inkLight   = "#1b1e23"
	inkDark    = "#e6e8eb"
	paperLight = "#fff"
	paperDark  = "#111"
	// Text that reports an error. The red of the light theme would have a contrast of 3.6 on
	// the dark background; small text needs 4.5 (WCAG 2.2, 1.4.3).
	wrongLight = "#d1242f"
	wrongDark  = "#ff6b6b"
)

// ink is the text color at an opacity from 0 to 1: currentColor in the SVG, so that the page
// sets it, and the text color of the light theme in the PNG.
type ink float64

// The opacities of ink.
const (
	inkText   ink = 1
	inkSecond ink = .7
	inkAxis   ink = .35
	inkGrid   ink = .12
	inkBand   ink = .05
)

// RGBA returns the color in the light theme.
func (k ink) RGBA() (r, g, b, a uint32) {
	return color.NRGBA{R: 0x1b, G: 0x1e, B: 0x23, A: alpha(float64(k))}.RGBA()
}

var (
	paper = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	// plate is the background behind text that lines would otherwise cross. In the SVG it is
	// replaced by the background of either theme, see svgCanvas.document, so no other color
	// may be equal to it.
	plate = color.NRGBA{R: 0xfe, G: 0xfe, B: 0xfe, A: 0xff}
	wrong = color.NRGBA{R: 0xd1, G: 0x24, B: 0x2f, A: 0xff} // errors and values that are not drawable
)

// palette is a set of colors of which each has a contrast of 3 to the backgrounds of both themes, as WCAG 2.2 requires
// of lines (1.4.11), and of which any two can be told apart by readers with protanopia, deuteranopia or tritanopia too.
// That leaves a narrow range of brightness, and no room for more than eight; further series have dashes.
var palette = [...]color.NRGBA{
	{R: 0x42, G: 0x69, B: 0xd0, A: 0xff},
	{R: 0xf0, G: 0x6c, B: 0x00, A: 0xff},
	{R: 0x24, G: 0x78, B: 0x48, A: 0xff},
	{R: 0x9c, G: 0x54, B: 0x78, A: 0xff},
	{R: 0x6c, G: 0x9c, B: 0x6c, A: 0xff},
	{R: 0xc0, G: 0x78, B: 0x9c, A: 0xff},
	{R: 0x54, G: 0x90, B: 0xfc, A: 0xff},
	{R: 0xd8, G: 0x00, B: 0x00, A: 0xff},
}

// faint is the color of a raw curve under its smoothed one. It is lighter than that one, so
// that it is visible at opacityFaint on a dark background too.
var faint = color.NRGBA{R: 0x7f, G: 0x9f, B: 0xe8, A: 0xff}

// In the dark theme the raw curve is darker and the smoothed one lighter, so that both can be
// distinguished there too: their contrast to each other and to the background is 2.5.
const (
	faintStroke  = "#7f9fe8" // faint in the SVG
	faintDark    = "#5b7fd6"
	smoothStroke = "#4269d0" // hue(0) in the SVG
	smoothDark   = "#7f9ff5"
)

// hue returns the color of series i.
func hue(i int) color.NRGBA { return palette[i%len(palette)] }

// patterns are the dashes of lines whose colors repeat for the second, the third and the fourth time.
var patterns = [...][]vg.Length{nil, {5, 2.5}, {1.2, 2}, {6, 2, 1.2, 2}}

// pattern returns the dashes of series i; nil is a solid line. A line that covers another one
// (overlaps) always has dashes, so that both can be seen.
func pattern(i int, overlaps bool) []vg.Length {
	p := patterns[i/len(palette)%len(patterns)]
	if p == nil && overlaps {
		return patterns[1]
	}
	return p
}

// at returns c with an opacity.
func at(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = alpha(opacity)
	return c
}

func alpha(opacity float64) uint8 {
	return uint8(min(max(opacity, 0), 1)*255 + .5)
}

// Text sizes in points.
const (
	sizeTitle = 11.5
	sizeText  = 9
	sizeSmall = 8
	sizeTiny  = 7
)

// Line widths in points.
const (
	widthLine  = 1.5
	widthFaint = .9
	widthAxis  = .75
	widthGrid  = .6
)

// opacityFaint is for a raw curve under its smoothed one, opacityArea for a filled area,
// opacityRange for a band between minimum and maximum.
const (
	opacityFaint = .6
	opacityArea  = .12
	opacityRange = .3
)

var dashes = []vg.Length{3, 3}

// typeface has the metrics of Arial and Helvetica, so an SVG that lists all three has the same
// layout on every system.
var typeface = font.Font{Typeface: "Liberation", Variant: "Sans"}

const fontFamily = "'Liberation Sans',Arial,Helvetica,sans-serif"

// textStyle returns a style with a size in points, anchored at the bottom left.
func textStyle(size float64, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.From(typeface, vg.Points(size)),
		XAlign:  draw.XLeft,
		YAlign:  draw.YBottom,
		Handler: plot.DefaultTextHandler,
	}
}

func titleStyle() text.Style {
	s := textStyle(sizeTitle, inkText)
	s.Font.Weight = xfont.WeightBold
	return s
}

// inkOver returns the text color for a cell filled with a hue at an opacity. The background
// shows through a faint fill, so the text color of the theme is best there; a strong fill
// looks the same in both themes.
func inkOver(c color.NRGBA, opacity float64) color.Color {
	switch {
	case opacity == 0:
		return inkAxis
	case opacity < .75:
		return ink(.85)
	case .2126*float64(c.R)+.7152*float64(c.G)+.0722*float64(c.B) > 130:
		return color.NRGBA{R: 0x1b, G: 0x1e, B: 0x23, A: 0xff}
	}
	return paper
}
