package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bar draws a horizontal bar for each name, in the order given, with the value at its end: the
// accuracy of each class, for instance. For a value that is not drawable it writes the number
// in red instead of a bar. A name without a value counts as NaN. A value without a name has its index
// instead, and the legend counts these values in red.
func Bar(title string, names []string, values []float64) *Figure {
	return newFigure(title, barsOf(names, values))
}

// barsOf pairs names with values.
func barsOf(names []string, values []float64) bars {
	k := bars{}
	for i := range max(len(names), len(values)) {
		b := bar{name: fmt.Sprintf("values[%d]", i), value: math.NaN(), unnamed: i >= len(names)}
		if i < len(names) {
			b.name = names[i]
		}
		if i < len(values) {
			b.value = values[i]
		}
		k = append(k, b)
	}
	return k
}

type bars []bar

type bar struct {
	name  string
	from  float64 // where the bar begins
	value float64 // where the bar ends
	hue   int

	unnamed bool // it has no name, and its index instead
}

// barHeight is the height of one bar including the space around it, in CSS pixels.
const barHeight = 22

func (k bars) size() (width, height float64) {
	return 560, 60 + legendHeight(k.flagged()) + barHeight*float64(min(max(len(k), 2), 150))
}

// flagged returns the legend, which counts the values without a name.
func (k bars) flagged() []entry {
	unnamed := 0
	for _, b := range k {
		if b.unnamed {
			unnamed++
		}
	}
	return flagged(unnamed, "value", "without a name")
}

func (k bars) sections(l settings) []section {
	var x limits
	x.add(0) // bars begin at 0
	drawn := 0
	lowest, highest := -1, -1
	for i, b := range k {
		if !drawable(b.value, false) {
			continue
		}
		drawn++
		x.add(b.value)
		if lowest < 0 || b.value < k[lowest].value {
			lowest = i
		}
		if highest < 0 || b.value > k[highest].value {
			highest = i
		}
	}
	write := k.writer()
	subtitle := "no data"
	switch {
	case drawn == 1:
		subtitle = quoted(k[highest].name) + " is " + write(k[highest].value)
	case drawn > 1 && k[lowest].value == k[highest].value:
		subtitle = "all are " + write(k[highest].value)
	case drawn > 1:
		subtitle = quoted(k[highest].name) + " is highest with " + write(k[highest].value) + ", " + quoted(k[lowest].name) + " lowest with " + write(k[lowest].value)
	case len(k) > 0:
		subtitle = "none of " + counted(len(k), "value") + " can be drawn"
	}
	return []section{{
		title: l.title, subtitle: subtitle, legend: k.flagged(), height: 1,
		body: func(c draw.Canvas) { k.draw(c, x.widened(false)) },
	}}
}

// quoted returns name in quotation marks.
func quoted(name string) string { return "“" + name + "”" }

// writer returns the format of the values: whole numbers if all values are whole.
func (k bars) writer() func(float64) string {
	for _, b := range k {
		if !isWhole(b.value) {
			return value
		}
	}
	return whole
}

func (k bars) draw(c draw.Canvas, x limits) {
	if len(k) == 0 {
		centeredAt(c, textStyle(sizeText, ink(.5)), c.Center(), "no data")
		return
	}
	names, numbers := textStyle(sizeSmall, ink(.85)), textStyle(sizeSmall, inkSecond)
	names.XAlign, names.YAlign, numbers.YAlign = draw.XRight, draw.YCenter, draw.YCenter
	write := k.writer()
	var nameWidth, left, right vg.Length
	for _, b := range k {
		nameWidth = max(nameWidth, names.Width(fitted(names, b.name, (c.Max.X-c.Min.X)*.4)))
		width := numbers.Width(write(b.value)) + 6
		if b.value < b.from {
			left = max(left, width)
		} else {
			right = max(right, width)
		}
	}
	c.Max.Y -= 6
	from, to := c.Min.X+nameWidth+6+left, max(c.Max.X-right, c.Min.X+nameWidth+6+left+1)
	toCanvas := func(v float64) vg.Length {
		return from + vg.Length(v/(x.hi-x.lo)-x.lo/(x.hi-x.lo))*(to-from)
	}
	zero := toCanvas(0)
	step := (c.Max.Y - c.Min.Y) / vg.Length(len(k))
	thick := min(step*.72, 16)
	for i, b := range k {
		middle := c.Max.Y - step*(vg.Length(i)+.5)
		c.FillText(names, vg.Point{X: c.Min.X + nameWidth, Y: middle}, fitted(names, b.name, nameWidth+.1))
		begin := toCanvas(b.from)
		style, text := numbers, begin+4
		switch {
		case !drawable(b.value, false):
			style.Color = wrong
		default:
			end := toCanvas(b.value)
			c.FillPolygon(hue(b.hue), rectangle(min(begin, end), middle-thick/2, max(begin-end, end-begin), thick))
			if text = end + 4; b.value < b.from {
				style.XAlign, text = draw.XRight, end-4
			}
		}
		c.FillText(style, vg.Point{X: text, Y: middle}, write(b.value))
	}
	c.StrokeLine2(draw.LineStyle{Color: inkAxis, Width: widthAxis}, zero, c.Min.Y, zero, c.Max.Y)
}
