package plots

import (
	"cmp"
	"math"
	"slices"
)

// Hist draws a histogram of values.
func Hist(title string, values []float64) *Figure {
	return Hists(title, Series{Y: values})
}

// Hists draws histograms of the Y of several series over the same bins, for example of the
// activations of several layers. The height is the density, so each histogram has area 1
// regardless of the number of its values.
func Hists(title string, series ...Series) *Figure {
	k := histogram{}
	for _, s := range series {
		k = append(k, named{s.Name, Series{Y: s.Y}.points()})
	}
	return newFigure(title, k)
}

type histogram []named

func (histogram) size() (width, height float64) { return 560, 293 }

func (k histogram) sections(l settings) []section {
	var index, x limits
	var bad []point
	n := 0
	for _, s := range k {
		ranges(&index, &x, s.points, false, false)
		n += len(s.points)
		_, gone := runs(s.points, false, false)
		bad = append(bad, gone...)
	}
	subtitle := describeRange(n, len(bad), x)
	shown, outside := k.most(x)
	first, width, count := bins(shown.widened(false), n)
	p := axes()
	p.X.Label.Text = cmp.Or(l.labelX, "value")
	scale(&p.X, limits{first, first + width*float64(count), true}, false, ticker(8, false))
	p.Add(grid{})
	var y limits
	y.add(0)
	for i, s := range k {
		outline := density(s.points, first, width, count)
		for _, q := range outline {
			y.add(q.y)
		}
		p.Add(area{outline, at(hue(i), opacityArea)}, line(outline, hue(i), 1.1))
	}
	scale(&p.Y, y.based(), false, ticker(4, false))
	if !x.some {
		showEmpty(p, "no data")
	}
	l.labelY = cmp.Or(l.labelY, "density")
	return l.onePanel(p, subtitle, slices.Concat(legendOf(k, nil), beyond(outside), notDrawn(bad)))
}

// most returns the range to show: that of nearly all values if a few outliers would compress
// them into one bin, and the number of these outliers.
func (k histogram) most(x limits) (shown limits, outside int) {
	var sorted []float64
	for _, s := range k {
		for _, q := range s.points {
			if drawable(q.y, false) {
				sorted = append(sorted, q.y)
			}
		}
	}
	const fewest, often = 50, 100
	if len(sorted) < fewest {
		return x, 0
	}
	slices.Sort(sorted)
	few := max(len(sorted)/often, 1)
	low, high := sorted[few], sorted[len(sorted)-1-few]
	spread := high - low
	if !(spread > 0) || x.hi-x.lo <= 20*spread {
		return x, 0
	}
	shown = limits{max(x.lo, low-spread), min(x.hi, high+spread), true}
	for _, v := range sorted {
		if v < shown.lo || v > shown.hi {
			outside++
		}
	}
	return shown, outside
}

// bins divides a range into bins of a round width; more values give more bins.
func bins(l limits, n int) (first, width float64, count int) {
	wanted := math.Ceil(2 * math.Cbrt(float64(n))) // Rice's rule
	width = niceStep(l.hi/min(max(wanted, 5), 60) - l.lo/min(max(wanted, 5), 60))
	first = math.Floor(l.lo/width) * width
	count = int(math.Floor((l.hi-first)/width)) + 1
	// Rounding near the ends of the float64 range could otherwise add a bin too many.
	return first, width, min(max(count, 1), 200)
}

// density returns the outline of one histogram.
func density(points []point, first, width float64, count int) []point {
	counts := make([]float64, count)
	var n float64
	for _, p := range points {
		if !drawable(p.y, false) {
			continue
		}
		n++
		// Rounding may put a value at either end into the bin beyond the last one.
		if at := math.Floor((p.y - first) / width); at >= -1 && at <= float64(count) {
			counts[min(max(int(at), 0), count-1)]++
		}
	}
	if n == 0 {
		return nil
	}
	var outline []point
	for i, c := range counts {
		d := c / n / width
		if !drawable(d, false) {
			d = 0 // the bins are too narrow
		}
		left := first + float64(i)*width
		outline = append(outline, point{left, d}, point{left + width, d})
	}
	return outline
}
