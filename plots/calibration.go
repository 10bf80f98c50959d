package plots

import "math"

// Calibration draws how well confidence agrees with reality: X of a series is the mean confidence
// of the examples of a bin and Y the share of them that are right, both from 0 to 1. A calibrated
// model is on the diagonal. The subtitle has the largest distance from it.
//
// Values outside of 0 to 1, and those of bins without examples (NaN), are left out.
func Calibration(title string, models ...Series) *Figure {
	k := unitSquare{
		series: copied(models), labelX: "confidence", labelY: "right",
		diagonal: "calibrated", dots: true, measure: farthest, measured: "largest difference",
	}
	for i, s := range k.series {
		var filled []point
		for _, q := range s.points {
			if !math.IsNaN(q.x) && !math.IsNaN(q.y) {
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
