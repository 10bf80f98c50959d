package plots

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas is a [vg.Canvas] that writes SVG for notebooks. It only uses presentation
// attributes, because the sanitisers of nbconvert, nbviewer and GitHub remove style attributes,
// ids, clip paths and references. Ink is written as currentColor, which one rule at the root
// sets to the text color of the reader's theme.
type svgCanvas struct {
	width, height vg.Length
	body          bytes.Buffer
	state         []svgState // a stack; the last element is current
}

type svgState struct {
	// matrix maps (x, y) to (m0·x + m2·y + m4, m1·x + m3·y + m5).
	matrix  [6]float64
	color   color.Color
	stroke  vg.Length
	pattern []vg.Length
	offset  vg.Length
}

var _ vg.CanvasSizer = (*svgCanvas)(nil)

func newSVGCanvas(width, height vg.Length) *svgCanvas {
	c := &svgCanvas{width: width, height: height}
	// The canvas has its origin at the bottom left, SVG at the top left.
	c.state = []svgState{{matrix: [6]float64{1, 0, 0, -1, 0, float64(height)}}}
	vg.Initialize(c)
	return c
}

func (c *svgCanvas) top() *svgState { return &c.state[len(c.state)-1] }

func (c *svgCanvas) Size() (w, h vg.Length)   { return c.width, c.height }
func (c *svgCanvas) SetLineWidth(w vg.Length) { c.top().stroke = w }
func (c *svgCanvas) Push()                    { c.state = append(c.state, *c.top()) }
func (c *svgCanvas) Pop()                     { c.state = c.state[:len(c.state)-1] }
func (c *svgCanvas) Translate(p vg.Point) {
	c.multiply([6]float64{1, 0, 0, 1, float64(p.X), float64(p.Y)})
}
func (c *svgCanvas) Scale(x, y float64) { c.multiply([6]float64{x, 0, 0, y, 0, 0}) }
func (c *svgCanvas) SetColor(clr color.Color) {
	if clr == nil {
		clr = color.Black
	}
	c.top().color = clr
}

func (c *svgCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.top().pattern, c.top().offset = pattern, offset
}

func (c *svgCanvas) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	c.multiply([6]float64{cos, sin, -sin, cos, 0, 0})
}

func (c *svgCanvas) multiply(n [6]float64) {
	m := c.top().matrix
	c.top().matrix = [6]float64{
		m[0]*n[0] + m[2]*n[1], m[1]*n[0] + m[3]*n[1],
		m[0]*n[2] + m[2]*n[3], m[1]*n[2] + m[3]*n[3],
		m[0]*n[4] + m[2]*n[5] + m[4], m[1]*n[4] + m[3]*n[5] + m[5],
	}
}

// toSVG maps a canvas point to hundredths of an SVG unit.
func (c *svgCanvas) toSVG(p vg.Point) (x, y int64) {
	m := c.top().matrix
	px, py := float64(p.X), float64(p.Y)
	return hundredths(m[0]*px + m[2]*py + m[4]), hundredths(m[1]*px + m[3]*py + m[5])
}

// hundredths rounds v to hundredths. Values far outside the image are clamped, so that no
// viewer overflows.
func hundredths(v float64) int64 {
	const far = 1e6
	if math.IsNaN(v) {
		return 0
	}
	return int64(math.Round(100 * min(max(v, -far), far)))
}

// number writes v/100 in the fewest characters: 50 as .5.
func (c *svgCanvas) number(v int64) {
	b := c.body.AvailableBuffer()
	if v < 0 {
		b, v = append(b, '-'), -v
	}
	if whole := v / 100; whole > 0 || v == 0 {
		b = strconv.AppendInt(b, whole, 10)
	}
	if rest := v % 100; rest > 0 {
		b = append(b, '.', byte('0'+rest/10))
		if rest%10 > 0 {
			b = append(b, byte('0'+rest%10))
		}
	}
	c.body.Write(b)
}

func (c *svgCanvas) attribute(name string, v float64) {
	c.body.WriteByte(' ')
	c.body.WriteString(name)
	c.body.WriteString(`="`)
	c.number(hundredths(v))
	c.body.WriteByte('"')
}

// paint writes the current color as the attribute "fill" or "stroke".
func (c *svgCanvas) paint(name string) {
	clr, opacity := hex(c.top().color)
	c.body.WriteString(" " + name + `="` + clr + `"`)
	if opacity < 1 {
		c.attribute(name+"-opacity", opacity)
	}
}

// hex returns a color and its opacity as SVG writes them.
func hex(c color.Color) (name string, opacity float64) {
	if k, ok := c.(ink); ok {
		return "currentColor", float64(k)
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return fmt.Sprintf("#%02x%02x%02x", n.R, n.G, n.B), math.Round(float64(n.A)/2.55) / 100
}

func (c *svgCanvas) Stroke(p vg.Path) {
	s := c.top()
	if s.stroke <= 0 {
		return
	}
	c.path(p)
	c.body.WriteString(` fill="none"`)
	c.paint("stroke")
	c.attribute("stroke-width", float64(s.stroke))
	if len(s.pattern) > 0 {
		c.body.WriteString(` stroke-dasharray="`)
		for i, d := range s.pattern {
			if i > 0 {
				c.body.WriteByte(' ')
			}
			c.number(hundredths(float64(d)))
		}
		// Round caps would close the gaps of a fine pattern.
		c.body.WriteString(`" stroke-linecap="butt"`)
		if s.offset != 0 {
			c.attribute("stroke-dashoffset", float64(s.offset))
		}
	}
	c.body.WriteString("/>\n")
}

func (c *svgCanvas) Fill(p vg.Path) {
	c.path(p)
	c.paint("fill")
	c.body.WriteString("/>\n")
}

// path opens a <path> and writes its data, with relative lines because they are shorter.
// Positions are rounded before they are subtracted, so that rounding errors do not accumulate
// along a line.
func (c *svgCanvas) path(p vg.Path) {
	c.body.WriteString(`<path d="`)
	var x, y int64
	pair := func(px, py int64) {
		c.number(px)
		if py >= 0 {
			c.body.WriteByte(' ')
		}
		c.number(py)
	}
	move := func(command byte, to vg.Point) {
		nx, ny := c.toSVG(to)
		c.body.WriteByte(command)
		pair(nx-x, ny-y)
		x, y = nx, ny
	}
	for _, e := range p {
		switch e.Type {
		case vg.MoveComp:
			x, y = c.toSVG(e.Pos)
			c.body.WriteByte('M')
			pair(x, y)
		case vg.LineComp:
			move('l', e.Pos)
		case vg.ArcComp:
			m := c.top().matrix
			radius := hundredths(float64(e.Radius) * math.Hypot(m[0], m[1]))
			on := func(angle float64) vg.Point {
				sin, cos := math.Sincos(angle)
				return vg.Point{X: e.Pos.X + e.Radius*vg.Length(cos), Y: e.Pos.Y + e.Radius*vg.Length(sin)}
			}
			if sx, sy := c.toSVG(on(e.Start)); sx != x || sy != y {
				move('l', on(e.Start))
			}
			// One SVG arc cannot be a whole circle.
			parts := max(1, math.Ceil(math.Abs(e.Angle)/(.99*math.Pi)))
			for i := 1.0; i <= parts; i++ {
				nx, ny := c.toSVG(on(e.Start + e.Angle*i/parts))
				c.body.WriteByte('a')
				pair(radius, radius)
				c.body.WriteString(" 0 0 ")
				if e.Angle < 0 {
					c.body.WriteString("1 ")
				} else {
					c.body.WriteString("0 ")
				}
				pair(nx-x, ny-y)
				x, y = nx, ny
			}
		case vg.CurveComp:
			command := byte('Q')
			if len(e.Control) == 2 {
				command = 'C'
			}
			c.body.WriteByte(command)
			for _, q := range append(append([]vg.Point(nil), e.Control...), e.Pos) {
				x, y = c.toSVG(q)
				pair(x, y)
				c.body.WriteByte(' ')
			}
		case vg.CloseComp:
			c.body.WriteByte('z')
		}
	}
	c.body.WriteByte('"')
}

// dots writes round dots as one path of zero-length lines with round caps. A <circle> for each
// dot would need ten times the bytes.
func (c *svgCanvas) dots(points []vg.Point, radius vg.Length, clr color.Color) {
	if len(points) == 0 {
		return
	}
	c.Push()
	defer c.Pop()
	c.SetColor(clr)
	c.body.WriteString(`<path d="`)
	for _, p := range points {
		x, y := c.toSVG(p)
		c.body.WriteByte('M')
		c.number(x)
		c.body.WriteByte(' ')
		c.number(y)
		c.body.WriteString("h0")
	}
	c.body.WriteString(`" fill="none"`)
	c.paint("stroke")
	c.attribute("stroke-width", 2*float64(radius))
	c.body.WriteString("/>\n")
}

func (c *svgCanvas) FillString(f font.Face, p vg.Point, s string) {
	if f.Font.Size == 0 || s == "" {
		return
	}
	x, y := c.toSVG(p)
	m := c.top().matrix
	c.body.WriteString("<text")
	// The matrix flips y, so upright text has an angle of 0 here.
	if angle := math.Atan2(m[1], m[0]) * 180 / math.Pi; math.Abs(angle) > .01 {
		c.body.WriteString(` transform="translate(`)
		c.number(x)
		c.body.WriteByte(' ')
		c.number(y)
		c.body.WriteString(`) rotate(`)
		c.number(hundredths(angle))
		c.body.WriteString(`)"`)
	} else {
		c.attribute("x", float64(x)/100)
		c.attribute("y", float64(y)/100)
	}
	c.attribute("font-size", float64(f.Font.Size))
	if f.Font.Weight >= xfont.WeightSemiBold {
		c.body.WriteString(` font-weight="700"`)
	}
	c.paint("fill")
	c.body.WriteByte('>')
	// EscapeText also replaces characters that XML does not allow.
	_ = xml.EscapeText(&c.body, []byte(s))
	c.body.WriteString("</text>\n")
}

func (c *svgCanvas) DrawImage(r vg.Rectangle, m image.Image) {
	var b bytes.Buffer
	if png.Encode(&b, m) != nil {
		return // an image without pixels
	}
	x, y := c.toSVG(vg.Point{X: r.Min.X, Y: r.Max.Y})
	c.body.WriteString("<image")
	c.attribute("x", float64(x)/100)
	c.attribute("y", float64(y)/100)
	c.attribute("width", float64(r.Size().X))
	c.attribute("height", float64(r.Size().Y))
	c.body.WriteString(` preserveAspectRatio="none" image-rendering="`)
	c.body.WriteString(map[bool]string{true: "pixelated", false: "auto"}[coarse(m)])
	c.body.WriteString(`" href="data:image/png;base64,`)
	c.body.WriteString(base64.StdEncoding.EncodeToString(b.Bytes()))
	c.body.WriteString("\"/>\n")
}

// document returns the complete SVG file. Its size is in CSS pixels (4/3 per point); label is
// the text for screen readers.
func (c *svgCanvas) document(label string) string {
	var b bytes.Buffer
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="quern" role="img" aria-label="`)
	_ = xml.EscapeText(&b, []byte(label))
	b.WriteString(`" width="` + strconv.Itoa(pixels(c.width)) + `" height="` + strconv.Itoa(pixels(c.height)))
	b.WriteString(`" viewBox="0 0 ` + length(c.width) + " " + length(c.height))
	b.WriteString(`" font-family="` + fontFamily + `" stroke-linejoin="round" stroke-linecap="round">` + "\n")
	b.WriteString("<style>.quern:root{color:" + inkLight + ";background:" + paperLight +
		"}@media(prefers-color-scheme:dark){.quern:root{color:" + inkDark + ";background:" + paperDark + "}")
	if red := []byte(` fill="` + wrongLight + `"`); bytes.Contains(c.body.Bytes(), red) {
		b.WriteString(`.quern:root [fill="` + wrongLight + `"]{fill:` + wrongDark + "}")
	}
	if plates := []byte(` fill="#fefefe"`); bytes.Contains(c.body.Bytes(), plates) {
		b.WriteString(`.quern:root [fill="#fefefe"]{fill:` + paperDark + "}")
	}
	if raw := []byte(` stroke="` + faintStroke + `"`); bytes.Contains(c.body.Bytes(), raw) {
		b.WriteString(`.quern:root [stroke="` + faintStroke + `"]{stroke:` + faintDark + `}.quern:root [stroke="` + smoothStroke + `"]{stroke:` + smoothDark + "}")
	}
	b.WriteString("}</style>\n")
	b.Write(c.body.Bytes())
	b.WriteString("</svg>\n")
	return b.String()
}

// pixels converts a length to CSS pixels.
func pixels(l vg.Length) int { return int(math.Round(float64(l) * 4 / 3)) }

func length(l vg.Length) string { return strconv.FormatFloat(float64(l), 'f', -1, 64) }
