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

// The two themes. The SVG carries both; the PNG is drawn on the light one.
const (
	inkLight   = "#1b1e23"
	inkDark    = "#e6e8eb"
	paperLight = "#fff"
	paperDark  = "#111"
	// Errors as text: the red of light paper would have a contrast of 3.6 on the dark
	// one, where small text needs 4.5 (WCAG 2.2, 1.4.3).
	wrongLight = "#d1242f"
	wrongDark  = "#ff6b6b"
)

// ink is the text colour at an opacity from 0 to 1: currentColor in the SVG,
// so that the page decides, and the light theme's ink in the PNG.
type ink float64

// The opacities at which ink is used.
const (
	inkText   ink = 1
	inkSecond ink = .7
	inkAxis   ink = .35
	inkGrid   ink = .12
	inkBand   ink = .05
)

// RGBA is the colour on the light theme.
func (k ink) RGBA() (r, g, b, a uint32) {
	return color.NRGBA{R: 0x1b, G: 0x1e, B: 0x23, A: alpha(float64(k))}.RGBA()
}

var (
	paper = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	// plate lies under words that lines would cover. In the SVG it is the paper of either
	// theme, see svgCanvas.document; no other colour may be equal to it.
	plate = color.NRGBA{R: 0xfe, G: 0xfe, B: 0xfe, A: 0xff}
	wrong = color.NRGBA{R: 0xd1, G: 0x24, B: 0x2f, A: 0xff} // errors and numbers that cannot be drawn
)

// palette is Observable 10, reordered so that the first two, training and
// validation, are far apart for colour-blind readers too. Every colour reads
// on both themes.
var palette = [...]color.NRGBA{
	{R: 0x42, G: 0x69, B: 0xd0, A: 0xff},
	{R: 0xff, G: 0x72, B: 0x5c, A: 0xff},
	{R: 0x3c, G: 0xa9, B: 0x51, A: 0xff},
	{R: 0xef, G: 0xb1, B: 0x18, A: 0xff},
	{R: 0xa4, G: 0x63, B: 0xf2, A: 0xff},
	{R: 0x6c, G: 0xc5, B: 0xb0, A: 0xff},
	{R: 0xff, G: 0x8a, B: 0xb7, A: 0xff},
	{R: 0x97, G: 0xbb, B: 0xf5, A: 0xff},
	{R: 0x9c, G: 0x6b, B: 0x4e, A: 0xff},
	{R: 0x94, G: 0x98, B: 0xa0, A: 0xff},
}

// faint is the colour of a raw curve under its smoothed one: lighter than that, so that at
// opacityFaint it can be seen on dark paper too.
var faint = color.NRGBA{R: 0x7f, G: 0x9f, B: 0xe8, A: 0xff}

// On dark paper the raw curve is darker and the smoothed one lighter, so that they can be
// told apart there too: contrasts of 2.5 to each other and to the paper.
const (
	faintStroke  = "#7f9fe8" // faint in the SVG
	faintDark    = "#5b7fd6"
	smoothStroke = "#4269d0" // hue(0) in the SVG
	smoothDark   = "#7f9ff5"
)

// hue is the colour of the i-th series.
func hue(i int) color.NRGBA { return palette[i%len(palette)] }

// patterns are the dashes of the lines whose colours come a second and a third time.
var patterns = [...][]vg.Length{nil, {5, 2.5}, {1.2, 2}}

// pattern is the dashes of the i-th series; nil is a solid line.
func pattern(i int) []vg.Length { return patterns[i/len(palette)%len(patterns)] }

// at gives a colour an opacity.
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

// opacityFaint is that of a raw curve under its smoothed one, opacityArea that
// of a filled area, opacityRange that of a band between minimum and maximum.
const (
	opacityFaint = .6
	opacityArea  = .12
	opacityRange = .3
)

var dashes = []vg.Length{3, 3}

// typeface is metric-compatible with Arial and Helvetica, so an SVG that names
// all three is laid out alike on every system.
var typeface = font.Font{Typeface: "Liberation", Variant: "Sans"}

const fontFamily = "'Liberation Sans',Arial,Helvetica,sans-serif"

// textStyle is text of a size in points, anchored at its bottom left.
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

// inkOver is the colour of words in a cell that is filled with a hue at an
// opacity. The paper shows through a faint fill, so there the theme's ink
// reads best; a strong fill looks alike on both themes.
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
