package plots

import (
	"cmp"
	"math"
	"slices"
)

// ROC draws receiver operating characteristics: X of a series is the false positive rate and Y the
// true positive rate, both from 0 to 1 and rising, as metrics.ROC returns them. The subtitle has
// the area under the curves by the trapezoidal rule, and the diagonal is that of a random score. A curve whose X
// falls has the same area. One whose X does neither has none, which the legend says.
//
// Values outside of 0 to 1 are left out and counted in the legend.
func ROC(title string, curves ...Series) *Figure {
	return newFigure(title, unitSquare{
		series: copied(curves), labelX: "false positive rate", labelY: "true positive rate",
		diagonal: "random", measure: trapezoids, measured: "AUC",
	})
}

// rising returns a curve with rising x: that of the points, or of their reverse. It is nil if x rises and falls.
func rising(points []point) []point {
	upwards := func(p, q point) int { return cmp.Compare(p.x, q.x) }
	if slices.IsSortedFunc(points, upwards) {
		return points
	}
	reversed := slices.Clone(points)
	if slices.Reverse(reversed); slices.IsSortedFunc(reversed, upwards) {
		return reversed
	}
	return nil
}

// trapezoids returns the area under a curve.
func trapezoids(points []point) (area float64) {
	for i := 1; i < len(points); i++ {
		area += (points[i].x - points[i-1].x) * (points[i].y + points[i-1].y) / 2
	}
	return area
}

// PrecisionRecall draws precision-recall curves: X of a series is the recall and Y the precision,
// both from 0 to 1 and with rising recall, as metrics.PrecisionRecall returns them. The subtitle
// has the average precision, Σ (Xᵢ - Xᵢ₋₁)·Yᵢ. A curve with falling recall, as of scikit-learn, has the same one.
// A curve whose recall does neither has none, which the legend says.
//
// Values outside of 0 to 1 are left out and counted in the legend.
func PrecisionRecall(title string, curves ...Series) *Figure {
	return newFigure(title, unitSquare{
		series: copied(curves), labelX: "recall", labelY: "precision", measure: averagePrecision, measured: "average precision",
	})
}

func averagePrecision(points []point) (sum float64) {
	for i := 1; i < len(points); i++ {
		sum += (points[i].x - points[i-1].x) * points[i].y
	}
	return sum
}

// Calibration draws how well confidence agrees with reality: X of a series is the mean confidence
// of the examples of a bin and Y the share of them that are right, both from 0 to 1. A calibrated
// model is on the diagonal. The subtitle has the largest distance from it.
//
// Values outside of 0 to 1, and those of bins without examples (NaN), are left out. The former are counted in the
// legend, and so are surplus values of an X and a Y that differ in length.
func Calibration(title string, models ...Series) *Figure {
	k := unitSquare{
		series: copied(models), labelX: "confidence", labelY: "right",
		diagonal: "calibrated", dots: true, measure: farthest, measured: "largest difference",
	}
	for i, s := range k.series {
		var filled []point
		both := min(len(models[i].X), len(models[i].Y))
		for j, q := range s.points {
			if j >= both || !math.IsNaN(q.x) && !math.IsNaN(q.y) {
				filled = append(filled, q)
			}
		}
		k.series[i].points = filled
	}
	return newFigure(title, k)
}

// farthest returns the largest difference of x and y.
func farthest(points []point) (most float64) {
	for _, q := range points {
		most = max(most, math.Abs(q.y-q.x))
	}
	return most
}

// unitSquare draws curves whose x and y are shares, on axes from 0 to 100 %.
type unitSquare struct {
	series         []named
	labelX, labelY string
	diagonal       string                // what the dashed diagonal stands for; "" for no diagonal
	dots           bool                  // mark each value
	measure        func([]point) float64 // the area of a curve, for the summary
	measured       string                // its name
}

func (unitSquare) size() (width, height float64) { return 420, 400 }

func (k unitSquare) sections(l settings) []section {
	unit := limits{0, 1, true}
	p := axes()
	p.X.Label.Text = cmp.Or(l.labelX, k.labelX)
	l.labelY = cmp.Or(l.labelY, k.labelY)
	scale(&p.X, unit, false, linear{count: 5, format: shareLabel})
	scale(&p.Y, unit, false, linear{count: 5, format: shareLabel})
	p.Add(grid{vertical: true})
	var legend []entry
	if k.diagonal != "" {
		m := line([]point{{0, 0}, {1, 1}}, inkSecond, widthFaint)
		m.style.Dashes = patterns[1]
		p.Add(m)
		legend = append(legend, entry{name: k.diagonal, color: inkSecond, dashes: patterns[1]})
	}
	overlaps := covering(k.series, unit)
	var bad []point
	var areas limits
	drawn, unordered := false, 0
	for i, s := range k.series {
		var inside []point
		for _, q := range s.points {
			if q.x >= 0 && q.x <= 1 && q.y >= 0 && q.y <= 1 {
				inside = append(inside, q)
			} else {
				bad = append(bad, q)
			}
		}
		if len(inside) == 0 {
			continue
		}
		p.Add(l.series(i, overlaps[i], inside))
		if k.dots {
			p.Add(spots{inside, 2, hue(i)})
		}
		switch curve := rising(inside); {
		case k.dots: // the order does not matter
			areas.add(k.measure(inside))
		case curve == nil:
			unordered++
		default:
			areas.add(k.measure(curve))
		}
		drawn = true
		if s.name != "" {
			legend = append(legend, entry{name: s.name, color: hue(i), dashes: pattern(i, overlaps[i])})
		}
	}
	subtitle := "no data"
	switch {
	case !drawn:
		showEmpty(p, "no data")
	case !areas.some:
		subtitle = counted(len(k.series), "curve")
	default:
		if subtitle = k.measured + " " + decimals(areas.lo, 3); areas.lo < areas.hi {
			subtitle += " to " + decimals(areas.hi, 3)
		}
	}
	return l.onePanel(p, subtitle, slices.Concat(legend, notDrawn(bad), flagged(unordered, "curve", "whose x does not rise")))
}

// shareLabel formats a share as a tick in percent.
func shareLabel(v, step float64) string { return percent(100*v, 100*step) }
