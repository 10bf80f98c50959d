package plots

// ROC draws receiver operating characteristics: X of a series is the false positive rate and Y the
// true positive rate, both from 0 to 1 and rising, as metrics.ROC returns them. The subtitle has
// the area under the curves by the trapezoidal rule, and the diagonal is that of a random score.
//
// Values outside of 0 to 1 are left out and counted in the legend.
func ROC(title string, curves ...Series) *Figure {
	return newFigure(title, unitSquare{
		series: copied(curves), labelX: "false positive rate", labelY: "true positive rate",
		diagonal: "random", measure: trapezoids, measured: "AUC",
	})
}

// trapezoids returns the area under a curve.
func trapezoids(points []point) (area float64) {
	for i := 1; i < len(points); i++ {
		area += (points[i].x - points[i-1].x) * (points[i].y + points[i-1].y) / 2
	}
	return area
}
