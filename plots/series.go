package plots

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// Series is numbers under one name.
//
// Without X the values stand at 0, 1, 2 and so on. A value that has no partner
// because X and Y differ in length counts as not drawn, as NaN and infinities
// do: the figure says how many there were and marks where.
type Series struct {
	Name string
	X, Y []float64
}

// Float64s converts values for a Series, since tensors hold float32.
func Float64s(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// points is a copy of the series.
func (s Series) points() []point {
	n := len(s.Y)
	if s.X != nil {
		n = max(n, len(s.X))
	}
	points := make([]point, n)
	for i := range points {
		p := point{float64(i), math.NaN()}
		if s.X != nil {
			p.x = math.NaN()
			if i < len(s.X) {
				p.x = s.X[i]
			}
		}
		if i < len(s.Y) {
			p.y = s.Y[i]
		}
		points[i] = p
	}
	return points
}

// named is a series as a figure keeps it.
type named struct {
	name   string
	points []point
}

func copied(series []Series) []named {
	kept := make([]named, len(series))
	for i, s := range series {
		kept[i] = named{s.Name, s.points()}
	}
	return kept
}

// ranges is the range of x and y that points need. A point whose y cannot be
// drawn still counts for x, since it is marked there.
func ranges(x, y *limits, points []point, logX, logY bool) {
	for _, p := range points {
		if !drawable(p.x, logX) {
			continue
		}
		x.add(p.x)
		if drawable(p.y, logY) {
			y.add(p.y)
		}
	}
}

// wholeX reports whether every x that can be drawn is a whole number, a count
// of steps for instance.
func wholeX(points []point) bool {
	for _, p := range points {
		if drawable(p.x, false) && !isWhole(p.x) {
			return false
		}
	}
	return true
}

// based lets an axis begin at zero when the data come near to it, and leaves
// some air otherwise.
func (l limits) based() limits {
	l = l.widened(false)
	air := (l.hi - l.lo) * .04
	switch {
	case l.lo >= 0 && l.lo <= .5*l.hi:
		l.lo = 0
	case l.hi <= 0 && l.hi >= .5*l.lo:
		l.hi = 0
		l.lo -= air
		return l
	default:
		l.lo -= air
	}
	l.hi += air
	return l
}

// notDrawn is the legend entry for points that have no place on the axes.
func notDrawn(bad []point) []entry {
	if len(bad) == 0 {
		return nil
	}
	words := "non-finite"
	for _, p := range bad {
		if !(math.IsNaN(p.y) || math.IsInf(p.y, 0)) {
			words = "not drawn"
		}
	}
	return []entry{{name: strconv.Itoa(len(bad)) + " " + words, colour: wrong, filled: true}}
}

// beyond is the legend entry for values that are outside of the axes.
func beyond(n int) []entry {
	if n == 0 {
		return nil
	}
	return []entry{{name: counted(n, "value") + " beyond the axis", colour: wrong, filled: true}}
}

// empty says that there is nothing to see in a panel.
type empty struct{ words string }

func (m empty) Plot(c draw.Canvas, _ *plot.Plot) {
	centredAt(c, textStyle(sizeText, ink(.5)), c.Center(), m.words)
}

// described says what lies in a range of n values, some of which cannot be
// drawn.
func described(n, bad int, y limits) string {
	points := counted(n, "point")
	if bad > 0 {
		points = grouped(float64(n-bad)) + " of " + points
	}
	write := value
	if isWhole(y.lo) && isWhole(y.hi) {
		write = whole
	}
	lo, hi := write(y.lo), write(y.hi)
	switch {
	case n == 0:
		return "no data"
	case !y.some:
		return counted(n, "point") + ", none of which can be drawn"
	case n-bad == 1:
		return points + " at " + lo
	case y.lo == y.hi:
		return points + ", all " + lo
	case lo == hi:
		return points + ", all about " + lo
	}
	return points + " from " + lo + " to " + hi
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(float64(n)) + " " + thing + "s"
}

// nothing turns a panel without data into one that says so.
func nothing(p *plot.Plot, words string) {
	p.X.Tick.Marker, p.Y.Tick.Marker = silent{p.X.Tick.Marker}, silent{p.Y.Tick.Marker}
	p.Add(empty{words})
}
