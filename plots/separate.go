package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// reducible is a [plot.Ticker] that can have fewer ticks.
type reducible interface {
	plot.Ticker
	fewer() (t plot.Ticker, ok bool) // false if there cannot be fewer
}

func (t linear) fewer() (plot.Ticker, bool)      { t.count--; return t, t.count > 0 }
func (t timed) fewer() (plot.Ticker, bool)       { t.count--; return t, t.count > 0 }
func (t logarithmic) fewer() (plot.Ticker, bool) { t.count--; return t, t.count > 0 }

// separate gives the axes of a plot in a box fewer ticks until their labels do not touch.
func separate(p *plot.Plot, box draw.Canvas) {
	for fewer := true; fewer; {
		data := p.DataCanvas(box) // depends on the width of the labels
		width := func(label string) vg.Length { return p.X.Tick.Label.Width(label) }
		height := func(string) vg.Length { return p.Y.Tick.Label.Font.Size }
		fewer = thin(&p.X, data.Max.X-data.Min.X, width, p.X.Tick.Label.Font.Size*.6)
		fewer = thin(&p.Y, data.Max.Y-data.Min.Y, height, p.Y.Tick.Label.Font.Size*.15) || fewer
	}
}

// thin gives an axis fewer ticks if two of its labels are closer than gap. It returns false if
// that is not so or cannot be changed.
func thin(a *plot.Axis, length vg.Length, size func(string) vg.Length, gap vg.Length) bool {
	t, ok := a.Tick.Marker.(reducible)
	if !ok || !touch(a, length, size, gap) {
		return false
	}
	next, ok := t.fewer()
	if ok {
		a.Tick.Marker = next
	}
	return ok
}

// touch reports whether two labels of an axis of some length are closer than gap.
func touch(a *plot.Axis, length vg.Length, size func(string) vg.Length, gap vg.Length) bool {
	end := vg.Length(math.Inf(-1))
	for _, t := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		if t.Label == "" {
			continue
		}
		at, half := length*vg.Length(a.Norm(t.Value)), size(t.Label)/2
		if at-half < end+gap {
			return true
		}
		end = at + half
	}
	return false
}
