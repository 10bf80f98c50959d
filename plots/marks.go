package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The marks below implement gonum's plot.Plotter. They do not implement plot.DataRanger: the
// figure sets the ranges of the axes from drawable numbers before it draws.

// grid draws hairlines under the data; vertical adds the vertical ones.
type grid struct{ vertical bool }

func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := draw.LineStyle{Color: inkGrid, Width: widthGrid}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if at := y(t.Value); t.Label != "" && at > c.Min.Y+1 && at <= c.Max.Y+.1 {
			c.StrokeLine2(style, c.Min.X, at, c.Max.X, at)
		}
	}
	if !g.vertical {
		return
	}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if at := x(t.Value); t.Label != "" {
			c.StrokeLine2(style, at, c.Min.Y, at, c.Max.Y)
		}
	}
}

// curve is a line through points that are all drawable. A long one is reduced when it is drawn.
type curve struct {
	points  []point
	style   draw.LineStyle
	stepped bool // each value holds until the next one
}

func line(points []point, c color.Color, width vg.Length) curve {
	return curve{points: points, style: draw.LineStyle{Color: c, Width: width}}
}

// series returns the line of series i. overlaps reports whether it is drawn on top of another
// line with the same points.
func (l settings) series(i int, overlaps bool, points []point) curve {
	m := line(points, hue(i), widthLine)
	m.style.Dashes, m.stepped = pattern(i, overlaps), l.stepped
	return m
}

// covering reports for each series whether it coincides with an earlier one: all points differ
// by less than a hundredth of the height of the axis.
func covering(all []named, y limits) []bool {
	overlaps := make([]bool, len(all))
	near := (y.hi - y.lo) / 100
	same := func(a, b []point) bool {
		if len(a) != len(b) || len(a) < 2 {
			return false
		}
		for i := range a {
			if a[i].x != b[i].x || !(math.Abs(a[i].y-b[i].y) < near) {
				return false
			}
		}
		return true
	}
	for i := range all {
		for j := range i {
			overlaps[i] = overlaps[i] || same(all[i].points, all[j].points)
		}
	}
	return overlaps
}

func (m curve) Plot(c draw.Canvas, p *plot.Plot) {
	if r, ok := bottom(c).(*recorder); ok {
		r.curve(m)
	}
	if len(m.points) == 1 { // a line of one point would be invisible
		spots{m.points, max(m.style.Width, 2), m.style.Color}.Plot(c, p)
		return
	}
	c.StrokeLines(m.style, c.ClipLinesXY(toCanvas(c, p, m.drawn(p)))...)
}

// drawn returns the points of the line on the canvas.
func (m curve) drawn(p *plot.Plot) []point {
	_, log := p.X.Scale.(logScale)
	points := reduce(m.points, p.X.Min, p.X.Max, log)
	if !m.stepped || len(points) < 2 {
		return points
	}
	steps := make([]point, 0, 2*len(points))
	for i, q := range points {
		if i > 0 {
			steps = append(steps, point{q.x, points[i-1].y})
		}
		steps = append(steps, q)
	}
	return steps
}

// toCanvas converts points from data to canvas coordinates.
func toCanvas(c draw.Canvas, p *plot.Plot, points []point) []vg.Point {
	x, y := p.Transforms(&c)
	placed := make([]vg.Point, len(points))
	for i, q := range points {
		placed[i] = vg.Point{X: x(q.x), Y: y(q.y)}
	}
	return placed
}

// spots draws round dots.
type spots struct {
	points []point
	radius vg.Length
	color  color.Color
}

// dotter is a canvas with a compact representation of many dots.
type dotter interface {
	dots(points []vg.Point, radius vg.Length, c color.Color)
}

func (m spots) Plot(c draw.Canvas, p *plot.Plot) {
	if r, ok := bottom(c).(*recorder); ok {
		r.spots(m)
	}
	var inside []vg.Point
	for _, q := range toCanvas(c, p, m.points) {
		// Rounding may put a point on the border slightly outside of it.
		const slack = .01
		if q.X >= c.Min.X-slack && q.X <= c.Max.X+slack && q.Y >= c.Min.Y-slack && q.Y <= c.Max.Y+slack {
			inside = append(inside, q)
		}
	}
	if d, ok := bottom(c).(dotter); ok {
		d.dots(inside, m.radius, m.color)
		return
	}
	style := draw.GlyphStyle{Color: m.color, Radius: m.radius, Shape: draw.CircleGlyph{}}
	for _, q := range inside {
		c.DrawGlyphNoClip(style, q)
	}
}

// bottom returns the innermost canvas: gonum wraps canvases in canvases.
func bottom(c vg.Canvas) vg.Canvas {
	for {
		inner, ok := c.(draw.Canvas)
		if !ok {
			return c
		}
		c = inner.Canvas
	}
}

// area fills the area between a line and the axis.
type area struct {
	points []point
	color  color.Color
}

func (m area) Plot(c draw.Canvas, p *plot.Plot) {
	if r, ok := bottom(c).(*recorder); ok {
		r.area(m)
	}
	if len(m.points) < 2 {
		return
	}
	outline := toCanvas(c, p, m.points)
	outline = append(outline, vg.Point{X: outline[len(outline)-1].X, Y: c.Min.Y}, vg.Point{X: outline[0].X, Y: c.Min.Y})
	c.FillPolygon(m.color, c.ClipPolygonXY(outline))
}

// band fills the area between the minimum and the maximum of each interval. A single interval
// is a vertical bar.
type band struct {
	intervals []interval
	color     color.Color
}

func (m band) Plot(c draw.Canvas, p *plot.Plot) {
	if r, ok := bottom(c).(*recorder); ok {
		r.band(m)
	}
	if len(m.intervals) == 1 {
		one := m.intervals[0]
		ends := toCanvas(c, p, []point{{one.x, one.low}, {one.x, one.high}})
		c.FillPolygon(m.color, c.ClipPolygonY(rectangle(ends[0].X-3, ends[0].Y, 6, ends[1].Y-ends[0].Y)))
		return
	}
	outline := make([]point, 0, 2*len(m.intervals))
	for _, v := range m.intervals {
		outline = append(outline, point{v.x, v.high})
	}
	for i := len(m.intervals) - 1; i >= 0; i-- {
		outline = append(outline, point{m.intervals[i].x, m.intervals[i].low})
	}
	c.FillPolygon(m.color, c.ClipPolygonXY(toCanvas(c, p, outline)))
}

// note is text beside a point, with a thin line to it.
type note struct {
	at    point
	label string
	below bool      // prefer the side below the point
	avoid [][]point // curves that the text should not cover
	// strong is the number of these, at the beginning, that are thick lines: text over them
	// would be illegible.
	strong int
}

func (m note) Plot(c draw.Canvas, p *plot.Plot) {
	const gap, space = vg.Length(3), vg.Length(2) // between the line and the point, and around the text
	q := toCanvas(c, p, []point{m.at})[0]
	if q.X < c.Min.X-1 || q.X > c.Max.X+1 || q.Y < c.Min.Y-1 || q.Y > c.Max.Y+1 {
		return
	}
	style := textStyle(sizeSmall, ink(.9))
	width, height := style.Width(m.label), style.Font.Size
	var curves [][]vg.Point
	for _, points := range m.avoid {
		curves = append(curves, toCanvas(c, p, points))
	}
	var boxes []vg.Rectangle // the nearest first
	for _, reach := range [...]vg.Length{14, 26, 38, 52, 68, 86, 106} {
		if reach > (c.Max.Y-c.Min.Y)*.6 {
			break // in a low panel the text would seem to belong to another point
		}
		for _, below := range [...]bool{m.below, !m.below} {
			y := q.Y + reach
			if below {
				y = q.Y - reach - height
			}
			for _, x := range [...]vg.Length{q.X - width/2, q.X + 6, q.X - width - 6, q.X + 24, q.X - width - 24} {
				x = max(c.Min.X+1, min(x, c.Max.X-width))
				boxes = append(boxes, grown(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}, space))
			}
		}
	}
	best, least := leastCovered(boxes, grown(c.Rectangle, space), nil, curves)
	if math.IsInf(least, 1) || covers(best, curves[:m.strong]) > float64(width)/2 { // the panel is too small for the text
		return
	}
	best = grown(best, -space)
	from, to := q.Y+gap, best.Min.Y
	style.YAlign = draw.YBottom
	at := vg.Point{X: best.Min.X, Y: best.Min.Y}
	if best.Max.Y < q.Y {
		from, to = q.Y-gap, best.Max.Y
	}
	end := min(max(q.X, best.Min.X), best.Max.X)
	c.StrokeLine2(draw.LineStyle{Color: ink(.5), Width: widthGrid}, q.X, from, end, to)
	c.FillText(style, at, m.label)
}

// leastCovered returns the box, within the canvas and apart from all boxes in taken, that curves cover the least, the first
// of several, and the length of the curves within it, which is infinite if there is none.
func leastCovered(boxes []vg.Rectangle, canvas vg.Rectangle, taken []vg.Rectangle, curves [][]vg.Point) (best vg.Rectangle, least float64) {
	least = math.Inf(1)
	for _, box := range boxes {
		inside := box.Min.X >= canvas.Min.X && box.Max.X <= canvas.Max.X && box.Min.Y >= canvas.Min.Y && box.Max.Y <= canvas.Max.Y
		if !inside || overlaps(box, taken) {
			continue
		}
		if covered := covers(box, curves); covered < least {
			best, least = box, covered
		}
		if least == 0 {
			break
		}
	}
	return best, least
}

// covers returns the length of the curves within a box.
func covers(box vg.Rectangle, curves [][]vg.Point) (sum float64) {
	inside := draw.Canvas{Rectangle: box}
	for _, part := range inside.ClipLinesXY(curves...) {
		for i := range len(part) - 1 {
			sum += math.Hypot(float64(part[i+1].X-part[i].X), float64(part[i+1].Y-part[i].Y))
		}
	}
	return sum
}

// undrawable draws a red tick at the bottom for each point that is not drawable.
type undrawable struct{ points []point }

func (m undrawable) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	last := c.Min.X - 10
	for _, q := range m.points {
		if !(q.x >= p.X.Min && q.x <= p.X.Max) {
			continue
		}
		if at := x(q.x); at-last >= 1 || at < last {
			c.FillPolygon(wrong, rectangle(at-1, c.Min.Y, 2, 6))
			last = at
		}
	}
}

// stripe shades the height of the panel from one x to another, with a label above it.
type stripe struct {
	from, to float64
	label    string
	shaded   bool
}

func (m stripe) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	from, to := max(x(m.from), c.Min.X), min(x(m.to), c.Max.X)
	if !(to > from) {
		return
	}
	if m.shaded {
		c.FillPolygon(inkBand, rectangle(from, c.Min.Y, to-from, c.Max.Y-c.Min.Y))
	}
	style := textStyle(sizeTiny, ink(.6))
	if m.label != "" && style.Width(m.label)+3 < to-from {
		c.FillText(style, vg.Point{X: from, Y: c.Max.Y + 1}, m.label)
	}
}

// level is a dashed horizontal line with a label at its right end.
type level struct {
	y     float64
	label string
}

func (m level) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	at := y(m.y)
	if at > c.Max.Y || at < c.Min.Y {
		return
	}
	c.StrokeLine2(draw.LineStyle{Color: ink(.5), Width: widthAxis, Dashes: dashes}, c.Min.X, at, c.Max.X, at)
	style := textStyle(sizeTiny, ink(.65))
	style.XAlign = draw.XRight
	c.FillText(style, vg.Point{X: c.Max.X, Y: at + 1}, m.label)
}

// verticalLine is a dashed vertical line with a label above the panel, where there are no curves.
// The panel's row reserves uprightRoom for the label.
type verticalLine struct {
	x     float64
	label string
	color color.Color
	left  bool // the label is on its left
}

// verticalLabelHeight is the height of that label.
const verticalLabelHeight = vg.Length(9)

func (m verticalLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	at := x(m.x)
	if at < c.Min.X || at > c.Max.X {
		return
	}
	c.StrokeLine2(draw.LineStyle{Color: m.color, Width: 1.2, Dashes: dashes}, at, c.Min.Y, at, c.Max.Y)
	style := textStyle(sizeSmall, m.color)
	width := style.Width(m.label) + 4
	if m.left && at-width >= c.Min.X || at+width > c.Max.X {
		c.FillText(style, vg.Point{X: at - width, Y: c.Max.Y + 3}, m.label)
		return
	}
	c.FillText(style, vg.Point{X: at + 4, Y: c.Max.Y + 3}, m.label)
}

// centeredAt draws text centered on a point.
func centeredAt(c draw.Canvas, style text.Style, p vg.Point, label string) {
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	c.FillText(style, p, label)
}
