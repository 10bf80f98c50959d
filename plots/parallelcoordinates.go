package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Axis is one of the vertical axes of [ParallelCoordinates].
type Axis struct {
	Name string // above the axis
	// Values holds one value for each line. A line is interrupted where its value is missing or
	// not drawable, such as NaN.
	Values []float64
	// Words are labels for the values 0, 1, 2 and so on, shown instead of numbers. A line is interrupted at a
	// value that has no word, and the legend counts these.
	Words []string
	Log   bool // the axis is logarithmic
}

// ParallelCoordinates draws a parallel-coordinates plot: a line for each of many trials across
// vertical axes, one for each hyperparameter or metric. weights from 0 to 1 set the opacity of
// the lines, and the strongest are drawn last, above the others. If weights is nil, all lines
// are strong; a missing weight is 0. A few values far from all others of an axis are drawn at its end, and
// counted in the legend.
func ParallelCoordinates(title string, weights []float64, columns ...Axis) *Figure {
	k := parallel{weights: slices.Clone(weights), all: weights == nil}
	for _, a := range columns {
		a.Values, a.Words = slices.Clone(a.Values), slices.Clone(a.Words)
		k.columns = append(k.columns, a)
		k.lines = max(k.lines, len(a.Values))
	}
	return newFigure(title, k)
}

// drawable reports whether a value has a position on the axis.
func (a Axis) drawable(v float64) bool {
	if a.Words != nil {
		return v >= 0 && v <= float64(len(a.Words)-1)
	}
	return drawable(v, a.Log)
}

type parallel struct {
	columns []Axis
	weights []float64
	all     bool // all lines are strong
	lines   int
}

func (k parallel) size() (width, height float64) {
	return min(max(defaultWidth, 110*float64(len(k.columns))), 900), 260
}

func (k parallel) sections(l settings) []section {
	subtitle := counted(k.lines, "line")
	if k.lines == 0 || len(k.columns) == 0 {
		subtitle = "no data"
	}
	wordless, outside := 0, 0
	for _, a := range k.columns {
		shown := newUprightScale(a, 0, 1).values
		for _, v := range a.Values {
			switch {
			case a.Words != nil && drawable(v, false) && !a.drawable(v):
				wordless++
			case a.drawable(v) && (v < shown.lo || v > shown.hi):
				outside++
			}
		}
	}
	legend := append(flagged(wordless, "value", "without a word"), beyond(outside)...)
	return []section{{title: l.title, subtitle: subtitle, legend: legend, height: 1, body: k.draw}}
}

func (k parallel) draw(c draw.Canvas) {
	if k.lines == 0 || len(k.columns) == 0 {
		centeredAt(c, textStyle(sizeText, ink(.5)), c.Center(), "no data")
		return
	}
	const above, below, side = vg.Length(16), vg.Length(6), vg.Length(44)
	from, to := c.Min.X+side, c.Max.X-side
	low, high := c.Min.Y+below, c.Max.Y-above
	step := vg.Length(0)
	if len(k.columns) > 1 {
		step = (to - from) / vg.Length(len(k.columns)-1)
	}
	scales := make([]verticalScale, len(k.columns))
	for i, a := range k.columns {
		scales[i] = newUprightScale(a, low, high)
	}
	x := func(i int) vg.Length { return from + vg.Length(i)*step }
	for _, line := range k.order() {
		k.drawLine(c, line, x, scales)
	}
	heading := textStyle(sizeSmall, ink(.85))
	heading.XAlign = draw.XCenter
	label := textStyle(sizeTiny, inkSecond)
	label.YAlign = draw.YCenter
	for i, a := range k.columns {
		c.StrokeLine2(draw.LineStyle{Color: inkAxis, Width: widthAxis}, x(i), low, x(i), high)
		room := step - 8
		if len(k.columns) == 1 {
			room = c.Max.X - c.Min.X
		}
		c.FillText(heading, vg.Point{X: x(i), Y: high + 5}, fitted(heading, a.Name, max(room, 2*side-4)))
		for _, t := range scales[i].ticks {
			y := scales[i].toCanvas(t.Value)
			if t.Label == "" || y < low-.1 || y > high+.1 {
				continue
			}
			c.StrokeLine2(draw.LineStyle{Color: inkAxis, Width: widthAxis}, x(i)-3, y, x(i), y)
			tick := fitted(label, t.Label, side-6)
			size := label.Width(tick)
			c.FillPolygon(plate, rectangle(x(i)-6-size, y-sizeTiny*.55, size+2, sizeTiny*1.1))
			c.FillText(label, vg.Point{X: x(i) - 5 - label.Width(tick), Y: y}, tick)
		}
	}
}

// order returns the lines from the weakest to the strongest, which is drawn last.
func (k parallel) order() []int {
	order := make([]int, k.lines)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(k.weight(a), k.weight(b)) })
	return order
}

func (k parallel) weight(line int) float64 {
	switch {
	case k.all:
		return 1
	case line >= len(k.weights) || !(k.weights[line] > 0):
		return 0
	}
	return min(k.weights[line], 1)
}

// drawLine draws one line, in pieces where it is interrupted.
func (k parallel) drawLine(c draw.Canvas, line int, x func(int) vg.Length, scales []verticalScale) {
	w := k.weight(line)
	// With many lines the weak ones are faint, so that the others remain visible.
	weakest := max(.06, min(.35, 14/float64(k.lines)))
	style := draw.LineStyle{Color: at(hue(0), weakest+(1-weakest)*w*w), Width: vg.Length(widthFaint + (widthLine-widthFaint)*w)}
	var piece []vg.Point
	end := func() {
		switch {
		case len(piece) > 1:
			c.StrokeLines(style, piece)
		case len(piece) == 1:
			c.FillPolygon(style.Color, rectangle(piece[0].X-1.5, piece[0].Y-1.5, 3, 3))
		}
		piece = nil
	}
	for i, a := range k.columns {
		if line >= len(a.Values) || !a.drawable(a.Values[line]) {
			end()
			continue
		}
		piece = append(piece, vg.Point{X: x(i), Y: scales[i].toCanvas(a.Values[line])})
	}
	end()
}

// verticalScale maps values to positions on a vertical axis.
type verticalScale struct {
	values    limits
	log       bool
	low, high vg.Length
	ticks     []plot.Tick
}

func newUprightScale(a Axis, low, high vg.Length) verticalScale {
	s := verticalScale{log: a.Log && a.Words == nil, low: low, high: high}
	steps := true
	for _, v := range a.Values {
		if drawable(v, s.log) {
			s.values.add(v)
			steps = steps && isWhole(v)
		}
	}
	if a.Words != nil {
		s.values = limits{lo: 0, hi: math.Max(1, float64(len(a.Words)-1)), some: true}
		for i, w := range a.Words {
			s.ticks = append(s.ticks, plot.Tick{Value: float64(i), Label: w})
		}
		return s
	}
	if !s.values.some {
		return s
	}
	if !s.log {
		s.values = clipped(s.values, a.Values)
	}
	s.values = s.values.widened(s.log)
	s.ticks = counter(5, s.log, steps).Ticks(s.values.lo, s.values.hi)
	return s
}

// clipped returns the range of most values if a few outliers would compress them. The outliers
// are then drawn at the end of the axis.
func clipped(l limits, values []float64) limits {
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(values)), func(v float64) bool { return !drawable(v, false) })
	n := len(sorted)
	if n < 5 {
		return l
	}
	outside := max(n/10, 1)
	low, high := sorted[outside], sorted[n-1-outside]
	if width := high - low; width > 0 && l.hi-l.lo > 12*width {
		l.lo, l.hi = max(l.lo, low-width), min(l.hi, high+width)
	}
	return l
}

// toCanvas returns the y of a value; a value beyond the range is drawn at the end of the axis.
func (s verticalScale) toCanvas(v float64) vg.Length {
	v = min(max(v, s.values.lo), s.values.hi)
	part := (v - s.values.lo) / (s.values.hi - s.values.lo)
	if s.log {
		part = logScale{}.Normalize(s.values.lo, s.values.hi, v)
	}
	return s.low + vg.Length(part)*(s.high-s.low)
}
