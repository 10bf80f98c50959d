package active

import (
	"github.com/quernlab/quern/display"

	"fmt"
	"math"
	"time"

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
