package metrics

import "github.com/quernlab/quern/plots"

// Figure draws the curve. plots.ROC draws several in one figure.
func (c *ROCCurve) Figure() *plots.Figure {
	return plots.ROC("ROC", plots.Series{X: c.FalsePositiveRate, Y: c.TruePositiveRate})
}

// MIMEBundle returns the figure of the curve.
func (c *ROCCurve) MIMEBundle() map[string]any { return c.Figure().MIMEBundle() }

// MIMEMetadata returns the size of the figure.
func (c *ROCCurve) MIMEMetadata() map[string]any { return c.Figure().MIMEMetadata() }

// Figure draws the curve. plots.PrecisionRecall draws several in one figure.
func (c *PRCurve) Figure() *plots.Figure {
	return plots.PrecisionRecall("Precision and recall", plots.Series{X: c.Recall, Y: c.Precision})
}

// MIMEBundle returns the figure of the curve.
func (c *PRCurve) MIMEBundle() map[string]any { return c.Figure().MIMEBundle() }

// MIMEMetadata returns the size of the figure.
func (c *PRCurve) MIMEMetadata() map[string]any { return c.Figure().MIMEMetadata() }

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

// MIMEBundle returns the figure.
func (c Calibration) MIMEBundle() map[string]any { return c.Figure().MIMEBundle() }

// MIMEMetadata returns the size of the figure.
func (c Calibration) MIMEMetadata() map[string]any { return c.Figure().MIMEMetadata() }
