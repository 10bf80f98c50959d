package active

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/training/seeds"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// At returns the mean accuracy, or for targets the mean error, over the seeds at a number of labels,
// and its sample standard deviation. The deviation is NaN for a single seed; both are NaN if nothing was measured at
// that number.
func (l StrategyResult) At(labels int) (mean, deviation float64) {
	return seeds.Of(l.Curves, func(c *Curve) float64 { return c.at(labels) })
}

// rounding is the rounding error allowed in a mean of accuracies: the mean of .85 and .95 is
// .8999999999999999.
const rounding = 1e-9

// LabelsTo returns the smallest number of labels at which the mean accuracy over the seeds
// reached a value, or the mean error fell to it; ok is false if it never did.
func (l StrategyResult) LabelsTo(value float64) (labels int, ok bool) {
	for _, n := range l.measured() {
		if mean, _ := l.At(n); l.measure().reaches(mean, value) {
			return n, true
		}
	}
	return 0, false
}

// measure returns what the curves show.
func (l StrategyResult) measure() measure {
	return measureOf(len(l.Curves) > 0 && l.Curves[0].Regression)
}

// Seconds returns the seconds of one curve, as means over the seeds: for selecting examples,
// and for training models.
func (l StrategyResult) Seconds() (querying, training float64) {
	for _, c := range l.Curves {
		for _, p := range c.Points {
			querying += p.Querying.Seconds() / float64(len(l.Curves))
			training += p.Training.Seconds() / float64(len(l.Curves))
		}
	}
	return querying, training
}

// measured returns the numbers of labels of the curves.
func (l StrategyResult) measured() []int {
	if len(l.Curves) == 0 {
		return nil
	}
	labels := make([]int, len(l.Curves[0].Points))
	for i, p := range l.Curves[0].Points {
		labels[i] = p.Labels
	}
	return labels
}

// Conclusion says how many labels each strategy needs for the target, relative to the first
// strategy, and what that costs in seconds.
func (c *Comparison) Conclusion() string {
	first := c.first()
	if first == nil {
		return "nothing was compared"
	}
	base, reached := first.LabelsTo(c.Target)
	var needs, costs []string
	for _, l := range c.Strategies {
		if len(l.Curves) == 0 {
			continue
		}
		n, ok := l.LabelsTo(c.Target)
		need := fmt.Sprintf("%s %s", l.Name, display.Integer(n))
		if !ok {
			labels := l.measured()
			need = fmt.Sprintf("%s more than %s", l.Name, display.Integer(labels[len(labels)-1]))
		}
		switch {
		case len(needs) == 0:
			need += " labels"
		case ok && reached:
			need += fmt.Sprintf(" (%s)", change(n, base))
		}
		needs = append(needs, need)
		querying, training := l.Seconds()
		costs = append(costs, fmt.Sprintf("%s %.2g s + %.2g s", l.Name, querying, training))
	}
	return fmt.Sprintf("%s: %s. Seconds for choosing + training: %s.", c.target(), strings.Join(needs, ", "), strings.Join(costs, ", "))
}

// first returns the baseline strategy; nil if it has no curve.
func (c *Comparison) first() *StrategyResult {
	if len(c.Strategies) == 0 || len(c.Strategies[0].Curves) == 0 {
		return nil
	}
	return &c.Strategies[0]
}

// change describes n relative to base.
func change(n, base int) string {
	share := 100 * (float64(n)/float64(base) - 1)
	sign := "+"
	if share < 0 {
		sign = "−"
	}
	return fmt.Sprintf("%s%.0f %%", sign, math.Abs(share))
}

// Figure draws the mean accuracy or error of each strategy over the labels, with a band of one standard
// deviation over the seeds.
func (c *Comparison) Figure() *plots.Figure {
	var bands []plots.Band
	m := c.measure()
	for _, l := range c.Strategies {
		if len(l.Curves) == 0 {
			continue
		}
		b := plots.Band{Series: plots.Series{Name: l.Name}}
		for _, n := range l.measured() {
			mean, deviation := l.At(n)
			b.X, b.Y = append(b.X, float64(n)), append(b.Y, m.scale*mean)
			b.Low, b.High = append(b.Low, max(m.scale*(mean-deviation), m.low)), append(b.High, min(m.scale*(mean+deviation), m.high))
		}
		bands = append(bands, b)
	}
	return plots.Bands(m.title, bands...).XLabel("labels").YLabel(m.axis).
		Subtitle(c.Dataset + ", " + seeds.Spread(c.Strategies, StrategyResult.seeds))
}

// seeds returns the name and the number of curves.
func (l StrategyResult) seeds() (name string, curves int) { return l.Name, len(l.Curves) }

// maxColumns is the number of label counts in the table.
const maxColumns = 5

// Report returns the figure, a table with a row for each strategy, and the conclusion.
func (c *Comparison) Report() *display.Report {
	r, text := new(display.Report), c.Conclusion()
	if first := c.first(); first != nil {
		if !c.displayed {
			r.Figure(c.Figure())
		}
		c.table(r, first.measured())
		text += "\n" + c.Test + ", " + seeds.Spread(c.Strategies, StrategyResult.seeds)
	}
	if c.Err != nil {
		text += fmt.Sprintf("\nended early: %v", c.Err)
	}
	return r.Text(text)
}

// table adds a row for each strategy, with some of the numbers of labels.
func (c *Comparison) table(r *display.Report, all []int) {
	var labels []int
	columns, m := []string{"strategy"}, c.measure()
	for k := range min(maxColumns, len(all)) {
		n := all[k*(len(all)-1)/max(1, min(maxColumns, len(all))-1)]
		labels, columns = append(labels, n), append(columns, display.Integer(n)+" labels")
	}
	r.Table(append(columns, "labels to "+c.target(), "choosing, s", "training, s")...)
	for _, l := range c.Strategies {
		if len(l.Curves) == 0 {
			continue
		}
		row := []any{l.Name}
		for _, n := range labels {
			row = append(row, m.withDeviation(l.At(n)))
		}
		needed := "–"
		if n, ok := l.LabelsTo(c.Target); ok {
			needed = display.Integer(n)
		}
		querying, training := l.Seconds()
		r.Row(append(row, needed, fmt.Sprintf("%.2f", querying), fmt.Sprintf("%.2f", training))...)
	}
}

// String returns the table as text, and the conclusion.
func (c *Comparison) String() string { return c.Report().String() }

// target returns the target as text.
func (c *Comparison) target() string { return c.measure().target(c.Target) }

// measure returns what is compared.
func (c *Comparison) measure() measure {
	if first := c.first(); first != nil {
		return first.measure()
	}
	return measureOf(false)
}

// percent formats a fraction as a percentage with this many decimal places.
func percent(share float64, digits int) string { return fmt.Sprintf("%.*f %%", digits, 100*share) }

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
