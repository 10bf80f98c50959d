package plots

import (
	"image/color"
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// margin is the free border of a figure, gutter the space between the panels of a row.
const (
	margin = vg.Length(6)
	gutter = vg.Length(14)
)

// section is a part of a figure with its own header.
type section struct {
	title, subtitle string
	legend          []entry
	height          vg.Length         // of the whole section
	body            func(draw.Canvas) // draws the part below the header
	notes           []string          // sentences below the figure
}

// summary returns the section in one line.
func (s section) summary() string {
	title, subtitle := oneLine(s.title), oneLine(s.subtitle)
	if title == "" || subtitle == "" {
		return title + subtitle
	}
	return title + ": " + subtitle
}

// maxLetters is the length at which text is cut before any further processing.
const maxLetters = 500

// oneLine replaces characters that cannot be part of a line, and cuts text that is too long.
func oneLine(label string) string {
	if len(label) > maxLetters {
		letters := []rune(label[:min(len(label), 4*maxLetters)])
		if len(letters) > maxLetters {
			label = string(letters[:maxLetters]) + "…"
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(label, "\ufffd"))
}

// entry is an entry of the legend. It is drawn as a line, or as a square if filled is set.
type entry struct {
	name   string
	color  color.Color
	filled bool
	dashes []vg.Length // of the line; nil: solid
}

// leastBody is the least height of a body that has a legend or a subtitle above it.
const leastBody = vg.Length(45)

// within returns the section without its legend and then without its subtitle if they would
// leave too little of a low figure to the body.
func (s section) within(width, height vg.Length) section {
	need := leastBody
	if s.title != "" {
		need += sizeTitle * 1.35
	}
	if s.subtitle != "" {
		need += sizeText * 1.35
	}
	if _, rows := layoutLegend(s.legend, width); need+14+legendLine*vg.Length(rows-1) > height {
		s.legend = nil
	}
	if need > height {
		s.subtitle = ""
	}
	return s
}

func (s section) draw(c draw.Canvas) {
	if r, ok := bottom(c).(*recorder); ok {
		r.section(s)
	}
	top := c.Max.Y
	s = s.within(c.Max.X-c.Min.X, c.Max.Y-c.Min.Y)
	line := func(style text.Style, label string) {
		if label == "" {
			return
		}
		style.YAlign = draw.YTop
		c.FillText(style, vg.Point{X: c.Min.X, Y: top}, fitted(style, label, c.Max.X-c.Min.X))
		top -= style.Font.Size * 1.35
	}
	line(titleStyle(), s.title)
	line(textStyle(sizeText, inkSecond), s.subtitle)
	if len(s.legend) > 0 {
		top = drawLegend(c, s.legend, top-3)
	}
	c.Max.Y = top - 2
	s.body(c)
}

// Sizes of a legend.
const (
	legendSwatch = vg.Length(12)
	legendGap    = vg.Length(14)
	legendLine   = vg.Length(12) // height of a row
)

// legendPosition is the position of an entry: its row, and its distance from the left.
type legendPosition struct {
	name string // cut to the width
	row  int
	x    vg.Length
}

// layoutLegend arranges the entries of a legend in as few rows of a width as possible. Several
// rows are aligned in columns if two or more columns fit.
func layoutLegend(entries []entry, width vg.Length) (boxes []legendPosition, rows int) {
	style := textStyle(sizeText, ink(.85))
	var x, widest vg.Length
	row := 0
	for _, e := range entries {
		name := fitted(style, e.name, width-legendSwatch-4)
		size := legendSwatch + 4 + style.Width(name)
		if x > 0 && x+size > width {
			x, row = 0, row+1
		}
		boxes = append(boxes, legendPosition{name, row, x})
		x += size + legendGap
		widest = max(widest, size)
	}
	if columns := int((width + legendGap) / (widest + legendGap)); row > 0 && columns > 1 {
		for i := range boxes {
			boxes[i].row, boxes[i].x = i/columns, vg.Length(i%columns)*(widest+legendGap)
		}
		row = (len(boxes) - 1) / columns
	}
	return boxes, row + 1
}

// drawLegend draws the entries in rows below top and returns the y below the last row.
func drawLegend(c draw.Canvas, entries []entry, top vg.Length) vg.Length {
	const swatch = legendSwatch
	style := textStyle(sizeText, ink(.85))
	boxes, rows := layoutLegend(entries, c.Max.X-c.Min.X)
	for i, e := range entries {
		name := boxes[i].name
		x, middle := c.Min.X+boxes[i].x, top-4-legendLine*vg.Length(boxes[i].row)
		if e.filled {
			c.FillPolygon(e.color, rectangle(x+2, middle-4.2, 8, 8))
		} else {
			c.StrokeLine2(draw.LineStyle{Color: e.color, Width: 2, Dashes: e.dashes}, x, middle, x+swatch, middle)
		}
		c.FillText(style, vg.Point{X: x + swatch + 4, Y: middle - style.Font.Size*.2 - style.FontExtents().Descent}, name)
	}
	return top - 4 - legendLine*vg.Length(rows-1) - 7
}

// headerWidth returns the width of title and subtitle without truncation.
func (s section) headerWidth() vg.Length {
	return max(titleStyle().Width(oneLine(s.title)), textStyle(sizeText, inkSecond).Width(oneLine(s.subtitle)))
}

// panel is one pair of axes. Its y label is above the y axis, so that it need not be rotated.
type panel struct {
	plot  *plot.Plot
	label string
	x, y  string // the labels without offsets and not cut, while it is drawn
}

// rows is a body of panels: each row has one panel or several side by side.
type rows []row

type row struct {
	panels   []panel
	weight   float64   // share of the height
	headroom vg.Length // space between the panels and their labels
}

// labelHeight returns the height reserved for labels above the panels.
func (r row) labelHeight() vg.Length {
	for _, p := range r.panels {
		if p.label != "" {
			return sizeSmall*1.25 + 7 + r.headroom
		}
	}
	return 5 + r.headroom
}

// draw lays the panels out so that the axes of a column begin and end at the same x.
func (rs rows) draw(c draw.Canvas) {
	var total float64
	for _, r := range rs {
		total += r.weight
		for j := range r.panels {
			p := &r.panels[j]
			p.x, p.y = p.plot.X.Label.Text, p.label
			p.plot.X.Label.Text = withOffset(p.plot.X.Label.Text, p.plot.X)
			p.label = withOffset(p.label, p.plot.Y)
		}
	}
	type insets struct{ left, right vg.Length }
	var columns []insets
	boxes := make([][]draw.Canvas, len(rs))
	top := c.Max.Y
	for i, r := range rs {
		height := (c.Max.Y - c.Min.Y) * vg.Length(r.weight/total)
		width := (c.Max.X - c.Min.X - gutter*vg.Length(len(r.panels)-1)) / vg.Length(len(r.panels))
		for j, p := range r.panels {
			b := c
			b.Min.X = c.Min.X + vg.Length(j)*(width+gutter)
			b.Max.X = b.Min.X + width
			b.Min.Y, b.Max.Y = top-height, top-r.labelHeight()
			boxes[i] = append(boxes[i], b)
			if j == len(columns) {
				columns = append(columns, insets{})
			}
			p.plot.X.Label.Text = fitted(p.plot.X.Label.TextStyle, p.plot.X.Label.Text, width)
			separate(p.plot, b)
			data := p.plot.DataCanvas(b)
			columns[j].left = max(columns[j].left, data.Min.X-b.Min.X)
			columns[j].right = max(columns[j].right, b.Max.X-data.Max.X)
		}
		top -= height
	}
	for i, r := range rs {
		for j, p := range r.panels {
			b := boxes[i][j]
			if p.label != "" {
				style := textStyle(sizeSmall, inkSecond)
				c.FillText(style, vg.Point{X: b.Min.X, Y: b.Max.Y + 4 + r.headroom}, fitted(style, p.label, b.Max.X-b.Min.X))
			}
			data := p.plot.DataCanvas(b)
			left, right := data.Min.X-b.Min.X, b.Max.X-data.Max.X
			b.Min.X += columns[j].left - left
			b.Max.X -= columns[j].right - right
			if rec, ok := bottom(c).(*recorder); ok {
				rec.panel(p, b)
				continue
			}
			p.plot.Draw(b)
		}
	}
}

// onePanel returns the sections of a figure with p as its only panel and the y label above it.
func (l settings) onePanel(p *plot.Plot, subtitle string, legend []entry) []section {
	return []section{{
		title: l.title, subtitle: subtitle, legend: legend, height: 1,
		body: rows{{panels: []panel{{plot: p, label: l.labelY}}, weight: 1}}.draw,
	}}
}

// axes returns an empty plot in the package's theme.
func axes() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range [...]*plot.Axis{&p.X, &p.Y} {
		small := textStyle(sizeSmall, inkSecond)
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = small.Font, small.Color
		a.Label.Padding = 3
		a.Tick.Label.Font, a.Tick.Label.Color = small.Font, small.Color
		a.Tick.LineStyle = draw.LineStyle{Color: inkAxis, Width: widthAxis}
	}
	p.X.LineStyle = draw.LineStyle{Color: inkAxis, Width: widthAxis}
	p.Y.LineStyle.Width = 0
	p.X.Tick.Length, p.Y.Tick.Length = 3, 0
	p.X.Padding, p.Y.Padding = 0, 1
	return p
}

// scale sets range, scale and ticks of an axis.
func scale(a *plot.Axis, l limits, log bool, ticks plot.Ticker) {
	l = l.widened(log)
	a.Min, a.Max = l.lo, l.hi
	a.Tick.Marker = ticks
	if log {
		a.Scale = logScale{}
	}
}

// logScale is the scale of a logarithmic axis. Unlike gonum's, it does not panic for values
// without a logarithm.
type logScale struct{}

func (logScale) Normalize(lo, hi, x float64) float64 {
	part := (math.Log(x) - math.Log(lo)) / (math.Log(hi) - math.Log(lo))
	if math.IsNaN(part) || math.IsInf(part, 0) {
		return 0
	}
	return part
}

// ticker returns the default ticker for numbers.
func ticker(count int, log bool) plot.Ticker {
	if log {
		return logarithmic{count}
	}
	return linear{count: count, format: plain, offset: true}
}

// counter returns the ticker of an x axis. If all x are whole numbers, all ticks are too.
func counter(count int, log, steps bool) plot.Ticker {
	if log {
		return logarithmic{count}
	}
	return linear{count: count, format: plain, whole: steps, offset: true}
}

// fitted returns text in one line, cut to a width.
func fitted(style text.Style, label string, width vg.Length) string {
	label = oneLine(label)
	if style.Width(label) <= width {
		return label
	}
	letters := []rune(label)
	// The longest prefix that fits; the width grows with the length.
	low, high := 0, len(letters)
	for low < high {
		middle := (low + high + 1) / 2
		if style.Width(string(letters[:middle])+"…") <= width {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return strings.TrimRight(string(letters[:low]), " ") + "…"
}

func rectangle(x, y, width, height vg.Length) []vg.Point {
	return []vg.Point{{X: x, Y: y}, {X: x + width, Y: y}, {X: x + width, Y: y + height}, {X: x, Y: y + height}}
}
