package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lane is one row of a timeline.
type Lane struct {
	Name   string  // left of the row
	Blocks []Block // in any order
}

// Block is one interval of a lane. Blocks of the same kind have the same color; blocks without
// a kind are faint, for gaps.
type Block struct {
	From, To float64 // seconds
	Name     string  // shown if it fits
	Kind     string  // determines the color; "" for a faint block
}

// Timeline draws a row for each lane and a block for each interval. A block too short to be
// visible is drawn as a hairline. A block whose ends are not drawable, or that ends before it
// begins, is left out.
func Timeline(title string, lanes ...Lane) *Figure {
	k := timeline{}
	for _, l := range lanes {
		kept := Lane{Name: l.Name}
		for _, b := range l.Blocks {
			if drawable(b.From, false) && drawable(b.To, false) && b.To >= b.From {
				kept.Blocks = append(kept.Blocks, b)
			} else {
				k.undrawable++
			}
		}
		k.lanes = append(k.lanes, kept)
	}
	return newFigure(title, k)
}

type timeline struct {
	lanes      []Lane
	undrawable int
}

const (
	laneHeight  = 34 // height of a row with the space around it, in CSS pixels
	mostLanes   = 60
	timelineTop = 92 // height of header, legend and axis
)

func (k timeline) size() (width, height float64) {
	return 760, timelineTop + laneHeight*float64(min(max(len(k.lanes), 1), mostLanes))
}

// clockFrom is the number of seconds from which times are formatted as minutes and seconds.
const clockFrom = 120

// timeUnit returns the unit in which the largest time has few digits.
func timeUnit(seconds float64) (size float64, name string) {
	switch {
	case seconds < 1e-6:
		return 1e-9, " ns"
	case seconds < 1e-3:
		return 1e-6, " µs"
	case seconds < 1:
		return 1e-3, " ms"
	}
	return 1, " s"
}

func (k timeline) sections(l settings) []section {
	var x limits
	var kinds []string
	colors := map[string]int{}
	for _, lane := range k.lanes {
		for _, b := range lane.Blocks {
			x.add(b.From, b.To)
			if _, known := colors[b.Kind]; !known && b.Kind != "" {
				colors[b.Kind] = len(kinds)
				kinds = append(kinds, b.Kind)
			}
		}
	}
	subtitle := "no data"
	if x.some {
		size, name := timeUnit(x.hi - x.lo)
		subtitle = value((x.hi-x.lo)/size) + name
		if x.hi-x.lo >= clockFrom {
			subtitle = clock(x.hi-x.lo, 1)
		}
	}
	var legend []entry
	for _, name := range kinds {
		legend = append(legend, entry{name: name, color: hue(colors[name]), filled: true})
	}
	if k.undrawable > 0 {
		legend = append(legend, entry{name: counted(k.undrawable, "block") + " not drawn", color: wrong, filled: true})
	}
	return []section{{
		title: l.title, subtitle: subtitle, legend: legend, height: 1,
		body: func(c draw.Canvas) { k.draw(c, x, colors) },
	}}
}

func (k timeline) draw(c draw.Canvas, x limits, colors map[string]int) {
	if !x.some {
		centeredAt(c, textStyle(sizeText, ink(.5)), c.Center(), "no data")
		return
	}
	names, small := textStyle(sizeSmall, ink(.85)), textStyle(sizeSmall, inkSecond)
	names.XAlign, names.YAlign = draw.XRight, draw.YCenter
	small.XAlign, small.YAlign = draw.XCenter, draw.YTop
	var width vg.Length
	for _, lane := range k.lanes {
		width = max(width, names.Width(fitted(names, lane.Name, (c.Max.X-c.Min.X)*.25)))
	}
	from, to, bottom := c.Min.X+width+8, c.Max.X-14, c.Min.Y+14
	if !(x.hi > x.lo) {
		x.hi = x.lo + 1e-9
	}
	toCanvas := func(t float64) vg.Length { return from + vg.Length((t-x.lo)/(x.hi-x.lo))*(to-from) }
	size, unit := timeUnit(x.hi - x.lo)
	var ticks plot.Ticker = linear{count: 7, format: plain}
	if x.hi-x.lo >= clockFrom {
		ticks, unit = timed{7}, ""
	}
	for _, t := range ticks.Ticks(0, (x.hi-x.lo)/size) {
		at := toCanvas(x.lo + t.Value*size)
		c.StrokeLine2(draw.LineStyle{Color: inkGrid, Width: widthGrid}, at, bottom, at, c.Max.Y)
		c.FillText(small, vg.Point{X: at, Y: bottom - 2}, t.Label+unit)
	}
	step := (c.Max.Y - bottom) / vg.Length(max(len(k.lanes), 1))
	for i, lane := range k.lanes {
		middle := c.Max.Y - step*(vg.Length(i)+.5)
		c.FillText(names, vg.Point{X: from - 8, Y: middle}, fitted(names, lane.Name, width+.1))
		k.blocks(c, lane, middle, min(step*.68, 18), toCanvas, colors)
	}
}

// blocks draws a lane. A block that ends within the hairline of the previous one is merged into
// it, so that a million blocks make a few hundred rectangles.
func (k timeline) blocks(c draw.Canvas, lane Lane, middle, thick vg.Length, toCanvas func(float64) vg.Length, colors map[string]int) {
	const hairline = vg.Length(.6)
	drawn := vg.Length(math.Inf(-1))
	for _, b := range lane.Blocks {
		begin, end := toCanvas(b.From), toCanvas(b.To)
		if end-begin < hairline {
			if begin < drawn {
				continue
			}
			end = begin + hairline
		}
		drawn = end
		kind, known := colors[b.Kind]
		style := textStyle(sizeTiny, ink(.7))
		if known {
			c.FillPolygon(hue(kind), rectangle(begin, middle-thick/2, end-begin, thick))
			style.Color = inkOver(hue(kind), 1)
		} else {
			c.FillPolygon(ink(.08), rectangle(begin, middle-thick/2, end-begin, thick))
		}
		style.YAlign = draw.YCenter
		if room := end - begin - 5; b.Name != "" && room > style.Width("mm…") {
			c.FillText(style, vg.Point{X: begin + 3, Y: middle}, fitted(style, b.Name, room))
		}
	}
}
