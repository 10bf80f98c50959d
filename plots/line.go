package plots

import "gonum.org/v1/plot"

// Line draws values as a line over x = 0, 1, 2 and so on.
//
// A long series is reduced to a few hundred points: the first, lowest, highest and last of each
// column of pixels. A value that is NaN, infinite or beyond ±1e300 interrupts the line and is
// marked in red.
func Line(title string, values []float64) *Figure {
	return Lines(title, Series{Y: values})
}

// Lines draws several series as lines, with a legend if the series have names.
func Lines(title string, series ...Series) *Figure {
	k := banded{}
	for _, s := range copied(series) {
		k.bands = append(k.bands, bandSeries{named: s})
	}
	return newFigure(title, k)
}

// shown extends x by the range that the caller set.
func (l settings) shown(x limits) limits {
	if l.rangeX.some && drawable(l.rangeX.lo, l.logX) {
		x.add(l.rangeX.lo, l.rangeX.hi)
	}
	return x
}

// curveAxes returns the axes for curves within x and y; steps says that all x are whole.
func (l settings) curveAxes(x, y limits, steps bool) *plot.Plot {
	p := axes()
	p.X.Label.Text = l.labelX
	scale(&p.X, x, l.logX, counter(7, l.logX, steps))
	if l.logY {
		scale(&p.Y, y, true, ticker(5, true))
	} else {
		scale(&p.Y, y.based(), false, ticker(5, false))
	}
	p.Add(grid{})
	return p
}
