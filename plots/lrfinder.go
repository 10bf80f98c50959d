package plots

import (
	"cmp"
	"math"
	"slices"
)

// LRFinder draws the losses of a learning-rate range test over the learning rates, on a
// logarithmic axis. It names two candidates: the learning rate where the loss falls fastest,
// as the caller has found it, or NaN, and a tenth of the one where the loss is lowest (L. Smith,
// "Cyclical learning rates", 2017). The loss is smoothed with a centered moving average, because
// a trailing average would shift the minimum.
func LRFinder(rates, losses []float64, steepest float64) *Figure {
	if rates == nil {
		rates = []float64{}
	}
	return newFigure("Learning-rate finder", rateFinder{Series{X: rates, Y: losses}.points(), steepest})
}

type rateFinder struct {
	points   []point
	steepest float64
}

func (rateFinder) size() (width, height float64) { return 560, 293 }

func (k rateFinder) sections(l settings) []section {
	parts, bad := runs(k.points, true, false)
	all := slices.Concat(parts...)
	curve := centered(all, min(5, len(all)/16))
	p := axes()
	var x, y limits
	ranges(&x, &y, curve, true, false)
	x = l.shown(x).widened(true)
	p.X.Label.Text = cmp.Or(l.labelX, "learning rate (log)")
	scale(&p.X, x, true, ticker(7, true))
	p.Add(grid{})
	p.Add(line(all, at(faint, opacityFaint), widthFaint), line(curve, hue(0), widthLine))

	subtitle := "no data"
	if len(curve) > 0 {
		// A diverging loss would flatten the rest of the curve: limit the axis.
		size := max(math.Abs(curve[0].y), math.Abs(y.lo))
		if top := max(curve[0].y+(curve[0].y-y.lo)*.5, y.lo+size*.5); top > y.lo {
			y.hi = min(y.hi, top)
		}
		lowest := slices.MinFunc(curve, func(a, b point) int { return cmp.Compare(a.y, b.y) })
		tenth := lowest.x / 10
		subtitle = "lowest loss " + value(lowest.y) + " at " + value(lowest.x)
		if drawable(k.steepest, true) {
			subtitle = "steepest at " + value(k.steepest) + ", " + subtitle
			p.Add(verticalLine{k.steepest, "steepest " + value(k.steepest), hue(2), k.steepest < tenth})
			p.Add(verticalLine{tenth, "minimum ÷ 10: " + value(tenth), hue(4), k.steepest >= tenth})
		}
	}
	scale(&p.Y, y.based(), false, ticker(5, false))
	p.Add(undrawable{bad})
	if len(all) == 0 {
		showEmpty(p, "no data")
	}
	return []section{{
		title: l.title, subtitle: subtitle, legend: notDrawn(bad), height: 1,
		body: rows{{panels: []panel{{plot: p, label: cmp.Or(l.labelY, "loss")}}, weight: 1, headroom: verticalLabelHeight}}.draw,
	}}
}
