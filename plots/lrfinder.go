package plots

import "math"

// LRFinder draws the losses that a learning-rate range test gave, over the
// rates on a logarithmic axis, and names two rates to choose from: where the
// loss falls fastest, and a tenth of the rate where it is lowest (L. Smith,
// "Cyclical learning rates", 2017). The loss is a centred moving average, since
// one that only looks back would move both.
func LRFinder(rates, losses []float64) *Figure {
	if rates == nil {
		rates = []float64{}
	}
	return newFigure("Learning-rate finder", rateFinder(Series{X: rates, Y: losses}.points()))
}

type rateFinder []point

func (rateFinder) size() (width, height float64) { return 560, 293 }

// neighbours is the number of neighbours on each side in the moving average
// over n points.
func neighbours(n int) int { return min(5, n/16) }

func (k rateFinder) sections(l look) []section {
	parts, bad := runs(k, true, false)
	var all []point
	for _, part := range parts {
		all = append(all, part...)
	}
	curve := centred(all, neighbours(len(all)))
	p := axes()
	var x, y limits
	ranges(&x, &y, curve, true, false)
	x = x.widened(true)
	p.X.Label.Text = "learning rate (log)"
	if l.labelX != "" {
		p.X.Label.Text = l.labelX
	}
	scale(&p.X, x, true, ticker(7, true))
	p.Add(grid{})
	p.Add(line(reduce(all, x.lo, x.hi, true), at(faint, opacityFaint), widthFaint), line(reduce(curve, x.lo, x.hi, true), hue(0), widthLine))

	subtitle := "no data"
	if len(curve) > 0 {
		// Where the loss explodes it would press the rest flat.
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
		if i, ok := steepest(curve[:lowest+1], max(1, neighbours(len(all)))); ok {
			subtitle = "steepest at " + value(curve[i].x) + ", lowest loss " + value(curve[lowest].y) + " at " + value(curve[lowest].x)
			p.Add(upright{curve[i].x, "steepest " + value(curve[i].x), hue(2), curve[i].x < tenth})
			p.Add(upright{tenth, "minimum ÷ 10: " + value(tenth), hue(4), curve[i].x >= tenth})
		}
	}
	scale(&p.Y, y.based(), false, ticker(5, false))
	p.Add(lost{bad})
	if len(all) == 0 {
		nothing(p, "no data")
	}
	label := "loss"
	if l.labelY != "" {
		label = l.labelY
	}
	return []section{{
		title: l.title, subtitle: subtitle, legend: notDrawn(bad), height: 1,
		body: rows{{panels: []panel{{p, label}}, weight: 1, headroom: uprightRoom}},
	}}
}

// steepest is the point at which the curve falls fastest over the logarithm of
// x, by differences over as many points as the average reaches.
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
