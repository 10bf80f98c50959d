package plots

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// Series is a named sequence of values.
//
// If X is nil, the values are at x = 0, 1, 2 and so on. If X and Y differ in length, the
// surplus values are left out like NaN and infinities: the figure counts them and marks their
// positions.
type Series struct {
	Name string    // in the legend; "" for none
	X, Y []float64 // coordinates of the points
}

// Float64s converts float32 values, such as those of a tensor, for a Series.
func Float64s(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// points returns a copy of the series.
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

// named is a series as stored in a figure.
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

// legendOf returns the entries of the series that have names: lines, which cover others as overlaps says, or areas without overlaps.
func legendOf(all []named, overlaps []bool) (legend []entry) {
	for i, s := range all {
		switch {
		case s.name == "":
		case overlaps == nil:
			legend = append(legend, entry{name: s.name, color: hue(i), filled: true})
		default:
			legend = append(legend, entry{name: s.name, color: hue(i), dashes: pattern(i, overlaps[i])})
		}
	}
	return legend
}

// ranges extends x and y by the range of points. A point whose y is not drawable still counts
// for x, because it is marked there.
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

// wholeX reports whether every drawable x is a whole number, such as a step.
func wholeX(points []point) bool {
	return !slices.ContainsFunc(points, func(p point) bool { return drawable(p.x, false) && !isWhole(p.x) })
}

// based makes an axis begin at zero if the data come close to it, and otherwise adds a margin.
func (l limits) based() limits {
	l = l.widened(false)
	pad := (l.hi - l.lo) * .04
	switch {
	case l.lo >= 0 && l.lo <= .5*l.hi:
		l.lo = 0
	case l.hi <= 0 && l.hi >= .5*l.lo:
		l.hi = 0
		l.lo -= pad
		return l
	default:
		l.lo -= pad
	}
	l.hi += pad
	return l
}

// notDrawn returns the legend entry for the points that are not drawable.
func notDrawn(bad []point) []entry {
	if len(bad) == 0 {
		return nil
	}
	label := "non-finite"
	for _, p := range bad {
		if !(math.IsNaN(p.y) || math.IsInf(p.y, 0)) {
			label = "not drawn"
		}
	}
	return []entry{{name: strconv.Itoa(len(bad)) + " " + label, color: wrong, filled: true}}
}

// beyond returns the legend entry for values outside the axes.
func beyond(n int) []entry { return flagged(n, "value", "beyond the axis") }

// legendHeight returns the height in CSS pixels that a legend adds to a figure which usually has none.
func legendHeight(legend []entry) float64 {
	if len(legend) == 0 {
		return 0
	}
	return 36
}

// flagged returns the legend entry for data that the figure cannot show as they are; none if there are none.
func flagged(n int, thing, what string) []entry {
	if n == 0 {
		return nil
	}
	return []entry{{name: counted(n, thing) + " " + what, color: wrong, filled: true}}
}

// empty draws a message in a panel without data.
type empty struct{ label string }

func (m empty) Plot(c draw.Canvas, _ *plot.Plot) {
	centeredAt(c, textStyle(sizeText, ink(.5)), c.Center(), m.label)
}

// describeRange describes n values with the range y, of which bad are not drawable.
func describeRange(n, bad int, y limits) string {
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

// showEmpty makes a panel without data show a message.
func showEmpty(p *plot.Plot, label string) {
	p.X.Tick.Marker, p.Y.Tick.Marker = unlabeled{p.X.Tick.Marker}, unlabeled{p.Y.Tick.Marker}
	p.Add(empty{label})
}
