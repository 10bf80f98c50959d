package active

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/quernlab/quern/accel/internal/seeds"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// At returns the mean accuracy, or for targets the mean error, over the seeds at a number of labels,
// and its sample standard deviation. The deviation is NaN for a single seed; both are NaN if nothing was measured at
// that number.
func (l StrategyResult) At(labels int) (mean, deviation float64) {
	values := make([]float64, len(l.Curves))
	for i, c := range l.Curves {
		values[i] = c.at(labels)
	}
	return seeds.Mean(values)
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
		Subtitle(c.Dataset + ", " + c.seeds())
}

// seeds says of how many seeds the values are means.
func (c *Comparison) seeds() string {
	names, counts := make([]string, len(c.Strategies)), make([]int, len(c.Strategies))
	for k, l := range c.Strategies {
		names[k], counts[k] = l.Name, len(l.Curves)
	}
	return seeds.Spread(names, counts)
}

// maxColumns is the number of label counts in the table.
const maxColumns = 5

// table has a row for each strategy.
func (c *Comparison) table() display.Content {
	first := c.first()
	if first == nil {
		return display.Text("nothing was compared")
	}
	all := first.measured()
	var labels []int
	for k := range min(maxColumns, len(all)) {
		labels = append(labels, all[k*(len(all)-1)/max(1, min(maxColumns, len(all))-1)])
	}
	columns := []string{"strategy"}
	for _, n := range labels {
		columns = append(columns, display.Integer(n)+" labels")
	}
	columns = append(columns, "labels to "+c.target(), "choosing, s", "training, s")
	var rows [][]any
	for _, l := range c.Strategies {
		if len(l.Curves) == 0 {
			continue
		}
		row := []any{l.Name}
		for _, n := range labels {
			row = append(row, c.measure().withDeviation(l.At(n)))
		}
		needed := "–"
		if n, ok := l.LabelsTo(c.Target); ok {
			needed = display.Integer(n)
		}
		querying, training := l.Seconds()
		rows = append(rows, append(row, needed, fmt.Sprintf("%.2f", querying), fmt.Sprintf("%.2f", training)))
	}
	return display.Table(rows, columns...)
}

// caption returns the text below the table.
func (c *Comparison) caption() string {
	text := c.Conclusion()
	if c.first() != nil {
		text += "\n" + c.Test + ", " + c.seeds()
	}
	if c.Err != nil {
		text += fmt.Sprintf("\nended early: %v", c.Err)
	}
	return text
}

// String returns the table as text, and the sentence.
func (c *Comparison) String() string { return c.table().String() + "\n" + c.caption() }

// MIMEBundle returns the display: the figure, the sentence and the table.
func (c *Comparison) MIMEBundle() map[string]any {
	if c.first() == nil {
		return map[string]any{"text/plain": c.caption()}
	}
	page := ""
	if !c.displayed {
		page = "<div>" + c.Figure().HTML() + "</div>"
	}
	for line := range strings.Lines(c.caption()) {
		page += "<p>" + html.EscapeString(strings.TrimSpace(line)) + "</p>"
	}
	rows, _ := c.table().MIMEBundle()["text/html"].(string)
	return map[string]any{"text/html": page + rows, "text/plain": c.String()}
}

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
