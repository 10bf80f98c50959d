package plots

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngScale is the number of PNG pixels per CSS pixel, so that the image is sharp on a
// high-density screen. The metadata give the size at which to display it.
const pngScale = 2

// pieceLength is the number of points that are stroked at once.
const pieceLength = 64

// pngCanvas draws in the light theme. It strokes long lines in pieces, because the rasteriser
// takes time quadratic in the length of one path: seconds for ten thousand points.
type pngCanvas struct {
	*vgimg.Canvas
	color color.Color
}

func newPNGCanvas(width, height vg.Length) *pngCanvas {
	return &pngCanvas{
		Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(96*pngScale), vgimg.UseBackgroundColor(paper)),
		color:  color.Black,
	}
}

func (c *pngCanvas) SetColor(clr color.Color) {
	c.color = clr
	c.Canvas.SetColor(clr)
}

// Stroke draws straight-line paths in pieces that share a point, where round caps make the
// join. The overlapping caps of a translucent line would be darker dots, so such a line is
// drawn opaque, in the color that it has on the background.
func (c *pngCanvas) Stroke(p vg.Path) {
	if len(p) <= pieceLength || !straight(p) {
		c.Canvas.Stroke(p)
		return
	}
	color := c.color
	c.Canvas.SetColor(onPaper(color))
	defer c.Canvas.SetColor(color)
	for i := 0; i < len(p)-1; i += pieceLength - 1 {
		piece := append(vg.Path(nil), p[i:min(i+pieceLength, len(p))]...)
		piece[0].Type = vg.MoveComp
		c.Canvas.Stroke(piece)
	}
}

// straight reports whether p is one polyline.
func straight(p vg.Path) bool {
	return p[0].Type == vg.MoveComp && !slices.ContainsFunc(p[1:], func(e vg.PathComp) bool { return e.Type != vg.LineComp })
}

// onPaper returns c blended with the background.
func onPaper(c color.Color) color.Color {
	r, g, b, a := c.RGBA()
	mix := func(v uint32, p uint8) uint8 {
		return uint8((v + uint32(p)*0x101*(0xffff-a)/0xffff) >> 8)
	}
	return color.NRGBA{R: mix(r, paper.R), G: mix(g, paper.G), B: mix(b, paper.B), A: 0xff}
}

// FillString draws s with a box for each character that the embedded font lacks, such as
// Chinese: vgimg would silently leave it out. The SVG can show such characters with the
// reader's own fonts.
func (c *pngCanvas) FillString(f font.Face, p vg.Point, s string) {
	var buffer sfnt.Buffer
	s = strings.Map(func(r rune) rune {
		if i, err := f.Face.GlyphIndex(&buffer, r); err != nil || i == 0 {
			return '□'
		}
		return r
	}, s)
	c.Canvas.FillString(f, p, s)
}

// coarseSide is the largest side of an image that is enlarged with square pixels instead of
// smoothing, such as a digit or an icon.
const coarseSide = 96

func coarse(m image.Image) bool {
	size := m.Bounds().Size()
	return size.X <= coarseSide && size.Y <= coarseSide
}

// DrawImage first enlarges a coarse image to its final size, because vgimg would smooth it.
func (c *pngCanvas) DrawImage(r vg.Rectangle, m image.Image) {
	dpi := c.DPI()
	width, height := int(r.Size().X.Dots(dpi)+.5), int(r.Size().Y.Dots(dpi)+.5)
	if from := m.Bounds(); coarse(m) && !from.Empty() && width > 0 && height > 0 {
		large := image.NewNRGBA(image.Rect(0, 0, width, height))
		draw.NearestNeighbor.Scale(large, large.Rect, m, from, draw.Src, nil)
		m = large
	}
	c.Canvas.DrawImage(r, m)
}

// encoded returns the PNG file.
func (c *pngCanvas) encoded() []byte {
	var b bytes.Buffer
	var img image.Image = c.Image()
	if p := indexed(c.Image().(*image.RGBA)); p != nil { // which vgimg makes
		img = p
	}
	// The encoder only fails for images without pixels, and a figure always has some.
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, img); err != nil {
		return nil
	}
	return b.Bytes()
}
