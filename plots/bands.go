package plots

import "slices"

// Band is a line with a range around it, such as the mean of several runs and their spread. Low
// and High have one value for each X of the series. Where one of them is missing or not
// drawable, no range is drawn. The legend counts the limits at which the series has no value.
type Band struct {
	Series
	Low, High []float64 // limits of the range, one for each X
}

// Bands draws lines with their ranges, and a dot at every value. A value that is NaN, infinite
// or beyond ±1e300 interrupts the line and is marked in red.
func Bands(title string, bands ...Band) *Figure {
	k := banded{dots: true}
	for _, b := range bands {
		k.bands = append(k.bands, bandSeries{
			named: named{b.Name, b.points()},
			low:   Series{X: b.X, Y: b.Low}.points(),
			high:  Series{X: b.X, Y: b.High}.points(),
		})
	}
	return newFigure(title, k)
}

// banded draws lines, with ranges where they have some.
type banded struct {
	bands []bandSeries
	dots  bool // at every value
}

type bandSeries struct {
	named
	low, high []point
}

func (banded) size() (width, height float64) { return defaultWidth, defaultHeight }

func (k banded) sections(l settings) []section {
	var x, y limits
	n, steps := 0, true
	for _, s := range k.bands {
		ranges(&x, &y, s.points, l.logX, l.logY)
		for _, run := range s.ranges(l) {
			for _, r := range run {
				y.add(r.low, r.high)
			}
		}
		n += len(s.points)
		steps = steps && wholeX(s.points)
	}
	x = l.shown(x).widened(l.logX)
	p := l.curveAxes(x, y, steps)
	all := make([]named, len(k.bands))
	for i, s := range k.bands {
		all[i] = s.named
	}
	overlaps := covering(all, y)
	surplus := 0
	for _, s := range k.bands {
		surplus += max(len(s.low)-len(s.points), 0) + max(len(s.high)-len(s.points), 0)
	}
	for i, s := range k.bands {
		for _, run := range s.ranges(l) {
			opacity := opacityArea
			if len(run) == 1 {
				opacity = opacityRange // a bar
			}
			p.Add(band{run, at(hue(i), opacity)}) // below all lines
		}
	}
	var bad []point
	for i, s := range k.bands {
		parts, gone := runs(s.points, l.logX, l.logY)
		for _, part := range parts {
			p.Add(l.series(i, overlaps[i], part))
			if k.dots && len(part) <= maxDotsPerLine && !l.stepped {
				p.Add(spots{part, 1.8, hue(i)})
			}
		}
		bad = append(bad, gone...)
	}
	p.Add(undrawable{bad})
	if !y.some {
		showEmpty(p, "no data")
	}
	return l.onePanel(p, describeRange(n, len(bad), y), slices.Concat(legendOf(all, overlaps), notDrawn(bad), flagged(surplus, "limit", "without a value")))
}

// maxDotsPerLine is the number of values up to which a line has a dot at each value.
const maxDotsPerLine = 60

// ranges returns the ranges of the points that have one, in unbroken runs.
func (s bandSeries) ranges(l settings) (all [][]interval) {
	var run []interval
	flush := func() {
		if len(run) > 0 {
			all, run = append(all, run), nil
		}
	}
	for i, q := range s.points {
		if i >= len(s.low) || i >= len(s.high) || !drawable(q.x, l.logX) || !drawable(s.low[i].y, l.logY) || !drawable(s.high[i].y, l.logY) {
			flush()
			continue
		}
		if n := len(run); l.stepped && n > 0 {
			run = append(run, interval{x: q.x, low: run[n-1].low, high: run[n-1].high})
		}
		run = append(run, interval{x: q.x, low: s.low[i].y, high: s.high[i].y})
	}
	flush()
	return all
}
