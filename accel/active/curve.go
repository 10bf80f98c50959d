package active

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/quernlab/quern/accel/internal/training/seeds"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Curve is the accuracy over the number of labels, or for data sets with targets the error. The zero
// value is empty. Notebooks display it as a figure.
type Curve struct {
	Points     []Point // in the order of the rounds
	Regression bool    // the points have errors instead of accuracies
}

// Point is one round: a number of labels, and how well a model trained on them does on the test set.
type Point struct {
	Labels   int           // labeled examples that the model was trained on
	Accuracy float64       // from 0 to 1
	RMSE     float64       // root mean squared error, for targets instead of the accuracy
	Querying time.Duration // time to select the examples of this round
	Training time.Duration // time to train the model
}

// Add appends a point.
func (c *Curve) Add(labels int, accuracy float64) {
	c.Points = append(c.Points, Point{Labels: labels, Accuracy: accuracy})
}

// Figure draws the accuracy, or the error, over the labels.
func (c *Curve) Figure() *plots.Figure {
	s, m := plots.Series{X: []float64{}}, measureOf(c.Regression)
	for _, p := range c.Points {
		s.X, s.Y = append(s.X, float64(p.Labels)), append(s.Y, m.scale*c.value(p))
	}
	return plots.Bands(m.title, plots.Band{Series: s}).XLabel("labels").YLabel(m.axis).Subtitle(c.String())
}

// String returns the last point.
func (c *Curve) String() string {
	if len(c.Points) == 0 {
		return "no points"
	}
	p := c.Points[len(c.Points)-1]
	return fmt.Sprintf("%s with %s labels", measureOf(c.Regression).text(c.value(p)), display.Integer(p.Labels))
}

// Report returns the figure.
func (c *Curve) Report() *display.Report { return new(display.Report).Figure(c.Figure()) }

// at returns the accuracy or the error at a number of labels; NaN if it was not measured.
func (c *Curve) at(labels int) float64 {
	for _, p := range c.Points {
		if p.Labels == labels {
			return c.value(p)
		}
	}
	return math.NaN()
}

// value returns what a point measures.
func (c *Curve) value(p Point) float64 {
	if c.Regression {
		return p.RMSE
	}
	return p.Accuracy
}

// measure is how curves and comparisons show what they measure: the accuracy, or the error.
type measure struct {
	title, axis string // of the figure
	scale       float64
	low, high   float64 // bounds of the scaled values
	error       bool    // less is better
}

func measureOf(regression bool) measure {
	if regression {
		return measure{"Error by labels", "RMSE", 1, 0, math.Inf(1), true}
	}
	return measure{"Accuracy by labels", "accuracy, %", 100, 0, 100, false}
}

// text formats a value.
func (m measure) text(v float64) string {
	if m.error {
		return fmt.Sprintf("RMSE %.3g", v)
	}
	return percent(v, 1)
}

// withDeviation formats a mean with its deviation over the seeds, NaN for one seed.
func (m measure) withDeviation(mean, deviation float64) string {
	if m.error {
		return seeds.Text("%.3g", "", mean, deviation)
	}
	return seeds.Text("%.1f", " %", 100*mean, 100*deviation)
}

// target formats a target: 82 %, 82.5 %, RMSE 0.4.
func (m measure) target(v float64) string {
	if m.error {
		return "RMSE " + strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(math.Round(v*1e8)/1e6, 'f', -1, 64) + " %"
}

// reaches reports whether a value is at least as good as a target.
func (m measure) reaches(v, target float64) bool {
	if m.error {
		return v <= target*(1+rounding)
	}
	return v >= target-rounding
}

// rounded returns a value as a target that it reaches: an accuracy in whole percent, or an error with
// two digits.
func (m measure) rounded(v float64) float64 {
	if !m.error {
		return math.Floor(100*(v+rounding)) / 100
	}
	if !(v > 0) || math.IsInf(v, 0) {
		return v
	}
	digits := math.Pow(10, 1-math.Floor(math.Log10(v)))
	return math.Ceil(v*(1-rounding)*digits) / digits
}
