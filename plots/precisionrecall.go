package plots

// PrecisionRecall draws precision-recall curves: X of a series is the recall and Y the precision,
// both from 0 to 1 and with rising recall, as metrics.PrecisionRecall returns them. The subtitle
// has the average precision, Σ (Xᵢ - Xᵢ₋₁)·Yᵢ.
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
