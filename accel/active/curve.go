package active

import (
	"github.com/quernlab/quern/display"

	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/plots"
)

// Curve is how the accuracy grows with the labels. Its zero value is empty, and
// it shows itself as a figure.
type Curve struct {
	Points []Point
}

// Point is one round: so many labels, a model trained on them, and its accuracy
// on other examples.
type Point struct {
	Labels   int
	Accuracy float64       // from 0 to 1
	Querying time.Duration // to choose the examples of this round
	Training time.Duration // of the model
}

// Add appends a point.
func (c *Curve) Add(labels int, accuracy float64) {
	c.Points = append(c.Points, Point{Labels: labels, Accuracy: accuracy})
}

// Figure draws the accuracy over the labels.
func (c *Curve) Figure() *plots.Figure {
	s := plots.Series{X: []float64{}}
	for _, p := range c.Points {
		s.X, s.Y = append(s.X, float64(p.Labels)), append(s.Y, 100*p.Accuracy)
	}
	return plots.Bands("Accuracy by labels", plots.Band{Series: s}).XLabel("labels").YLabel("accuracy, %").Subtitle(c.String())
}

// String is the last point.
func (c *Curve) String() string {
	if len(c.Points) == 0 {
		return "no points"
	}
	p := c.Points[len(c.Points)-1]
	return fmt.Sprintf("%s with %s labels", percent(p.Accuracy, 1), display.Integer(p.Labels))
}

// MIMEBundle shows the figure.
func (c *Curve) MIMEBundle() map[string]any { return c.Figure().MIMEBundle() }

// MIMEMetadata is the size of the picture.
func (c *Curve) MIMEMetadata() map[string]any { return c.Figure().MIMEMetadata() }

// at is the accuracy with so many labels; NaN where it was not measured.
func (c *Curve) at(labels int) float64 {
	for _, p := range c.Points {
		if p.Labels == labels {
			return p.Accuracy
		}
	}
	return math.NaN()
}
