package plots

import "math"

// LRFinder draws the losses of a learning-rate range test over the learning rates, on a
// logarithmic axis. It names two candidates: the learning rate where the loss falls fastest,
// and a tenth of the one where the loss is lowest (L. Smith, "Cyclical learning rates", 2017).
// The loss is smoothed with a centered moving average, because a trailing average would shift
// both.
func LRFinder(rates, losses []float64) *Figure {
	if rates == nil {
		rates = []float64{}
	}
	return newFigure("Learning-rate finder", rateFinder(Series{X: rates, Y: losses}.points()))
}

type rateFinder []point

func (rateFinder) size() (width, height float64) { return 560, 293 }

// neighbors returns the number of neighbors on each side in the moving average over n points.
func neighbors(n int) int { return min(5, n/16) }

func (k rateFinder) sections(l settings) []section {
	parts, bad := runs(k, true, false)
	var all []point
	for _, part := range parts {
		all = append(all, part...)
	}
	curve := centered(all, neighbors(len(all)))
	p := axes()
	var x, y limits
	ranges(&x, &y, curve, true, false)
	x = l.shown(x).widened(true)
	p.X.Label.Text = "learning rate (log)"
	if l.labelX != "" {
		p.X.Label.Text = l.labelX
	}
	scale(&p.X, x, true, ticker(7, true))
	p.Add(grid{})
	p.Add(line(reduce(all, x.lo, x.hi, true), at(faint, opacityFaint), widthFaint), line(reduce(curve, x.lo, x.hi, true), hue(0), widthLine))

	subtitle := "no data"
	if len(curve) > 0 {
		// A diverging loss would flatten the rest of the curve: limit the axis.
		size := max(math.Abs(curve[0].y), math.Abs(y.lo))
		if top := max(curve[0].y+(curve[0].y-y.lo)*.5, y.lo+size*.5); top > y.lo {
			y.hi = min(y.hi, top)
		}
		lowest := 0
		for i := range curve {
			if curve[i].y < curve[lowest].y {
				lowest = i
			}
		}
		tenth := curve[lowest].x / 10
		subtitle = "lowest loss " + value(curve[lowest].y) + " at " + value(curve[lowest].x)
		if i, ok := steepest(curve[:lowest+1], max(1, neighbors(len(all)))); ok {
			subtitle = "steepest at " + value(curve[i].x) + ", lowest loss " + value(curve[lowest].y) + " at " + value(curve[lowest].x)
			p.Add(verticalLine{curve[i].x, "steepest " + value(curve[i].x), hue(2), curve[i].x < tenth})
			p.Add(verticalLine{tenth, "minimum ÷ 10: " + value(tenth), hue(4), curve[i].x >= tenth})
		}
	}
	scale(&p.Y, y.based(), false, ticker(5, false))
	p.Add(undrawable{bad})
	if len(all) == 0 {
		showEmpty(p, "no data")
	}
	label := "loss"
	if l.labelY != "" {
		label = l.labelY
	}
	return []section{{
		title: l.title, subtitle: subtitle, legend: notDrawn(bad), height: 1,
		body: rows{{panels: []panel{{p, label}}, weight: 1, headroom: verticalLabelHeight}},
	}}
}

// steepest returns the point at which the curve falls fastest over log x, using differences
// over reach points, as many as the average spans.
func steepest(curve []point, reach int) (at int, ok bool) {
	fastest := 0.0
	for i := reach; i < len(curve); i++ {
		before := curve[i-reach]
		if fall := (curve[i].y - before.y) / math.Log(curve[i].x/before.x); fall < fastest {
			at, fastest, ok = i-reach/2, fall, true
		}
	}
	return at, ok
}
