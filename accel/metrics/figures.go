package metrics

import (
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Figure draws the curve. plots.ROC draws several in one figure.
func (c *ROCCurve) Figure() *plots.Figure {
	return plots.ROC("ROC", plots.Series{X: c.FalsePositiveRate, Y: c.TruePositiveRate})
}

// Report returns the figure.
func (c *ROCCurve) Report() *display.Report { return new(display.Report).Figure(c.Figure()) }

// Figure draws the curve. plots.PrecisionRecall draws several in one figure.
func (c *PRCurve) Figure() *plots.Figure {
	return plots.PrecisionRecall("Precision and recall", plots.Series{X: c.Recall, Y: c.Precision})
}

// Report returns the figure.
func (c *PRCurve) Report() *display.Report { return new(display.Report).Figure(c.Figure()) }

// Calibration is the bins of a model by confidence.
type Calibration []CalibrationBin

// Figure draws the share of right examples over the confidence. plots.Calibration draws several
// models in one figure.
func (c Calibration) Figure() *plots.Figure {
	var s plots.Series
	for _, b := range c {
		s.X, s.Y = append(s.X, b.Confidence), append(s.Y, b.Share)
	}
	return plots.Calibration("Calibration", s)
}

// Report returns the figure.
func (c Calibration) Report() *display.Report { return new(display.Report).Figure(c.Figure()) }
