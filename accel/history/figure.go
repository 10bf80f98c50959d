package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// Figure draws the run: loss and accuracy over the steps, and below them the metrics of option
// Metrics and what else [Live] draws.
func (r *Run) Figure() *plots.Figure {
	return r.draw(append([]Metric{Loss, Accuracy}, r.state.Live...)).Notes(r.state.Findings...)
}

// draw returns a figure of the metrics, each kind once; nil for no metrics.
func (r *Run) draw(metrics []Metric) *plots.Figure {
	var parts []*plots.Figure
	drawn := map[string]bool{}
	add := func(kind string, draw func() *plots.Figure) {
		if !drawn[kind] {
			drawn[kind] = true
			parts = append(parts, draw())
		}
	}
	for _, m := range metrics {
		switch {
		case m == Loss || m == Accuracy:
			add("training", func() *plots.Figure {
				return r.training(slices.Contains(metrics, Loss) || !r.hasAccuracy(), slices.Contains(metrics, Accuracy))
			})
			for i, f := range r.metricFigures() {
				add(fmt.Sprint("metrics", i), func() *plots.Figure { return f })
			}
		case m == LearningRate:
			add("rates", r.rates)
		case m == LossScale:
			add("scale", r.scales)
		case m == GradNorm:
			add("norm", r.norms)
		case m.OfDevice() && !slices.ContainsFunc(r.histories(), unknown):
			add("device", r.deviceUse)
		}
	}
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return plots.Stack(parts...)
}

// deviceUse draws the utilization of the devices.
func (r *Run) deviceUse() *plots.Figure {
	d := r.Utilization.Data(r.state.Began, r.state.EpochStarts...)
	for _, other := range r.OtherUtilization {
		d.Others = append(d.Others, other.Data(r.state.Began))
	}
	return plots.DeviceUse(d)
}

// training draws the curves of loss and accuracy, or of one of them.
func (r *Run) training(withLoss, withAccuracy bool) *plots.Figure {
	d := plots.TrainingData{Title: "Training on " + strings.TrimSuffix(r.Dataset, ", train"), Total: float64(r.Planned)}
	if r.state.Finished {
		d.Total = 0
	}
	if r.state.Average {
		d.Title += ", validation of the average (EMA)"
	}
	n := len(r.Steps)
	steps, loss, accuracy := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, s := range r.Steps {
		steps[i], loss[i], accuracy[i] = float64(i+1), s.Loss, s.Accuracy
	}
	at, checked, right := make([]float64, len(r.Validations)), make([]float64, len(r.Validations)), make([]float64, len(r.Validations))
	for i, c := range r.Validations {
		at[i], checked[i], right[i] = float64(c.Step), c.Loss, c.Accuracy
	}
	if withLoss {
		d.Loss, d.ValidationLoss = plots.Series{X: steps, Y: loss}, plots.Series{X: at, Y: checked}
	}
	if withAccuracy && r.hasAccuracy() {
		d.Accuracy = plots.Series{X: steps, Y: accuracy}
		d.ValidationAccuracy = plots.Series{X: at, Y: right}
	}
	return plots.Training(d)
}

// metricFigures draws the metrics of option Metrics at each validation: those from 0 to 1 in one
// figure, the others in one each.
func (r *Run) metricFigures() (figures []*plots.Figure) {
	var shares []plots.Series
	draw := func(title string, series ...plots.Series) {
		figures = append(figures, r.overSteps(plots.Lines(title, series...), 180))
	}
	for _, m := range r.newestMetrics() {
		s := plots.Series{Name: m.Name}
		for _, v := range r.Validations {
			s.X, s.Y = append(s.X, float64(v.Step)), append(s.Y, valueOf(v.Metrics, m.Name))
		}
		if m.Share {
			shares = append(shares, s)
		} else {
			draw("Validation "+m.Name, plots.Series{X: s.X, Y: s.Y})
		}
	}
	if len(shares) > 0 {
		draw("Validation metrics", shares...)
	}
	return figures
}

// newestMetrics returns the metrics of the last validation.
func (r *Run) newestMetrics() []MetricValue {
	if len(r.Validations) == 0 {
		return nil
	}
	return r.Validations[len(r.Validations)-1].Metrics
}

// ofSteps draws a value of each step, and returns the values.
func (r *Run) ofSteps(title string, value func(Step) float64) (*plots.Figure, []float64) {
	values := make([]float64, len(r.Steps))
	for i, s := range r.Steps {
		values[i] = value(s)
	}
	return r.overSteps(plots.Line(title, values), 160), values
}

// overSteps gives a figure an axis of all planned steps, and a height.
func (r *Run) overSteps(f *plots.Figure, height float64) *plots.Figure {
	f.XLabel("step").Size(0, height)
	if !r.state.Finished {
		f.RangeX(0, float64(r.Planned))
	}
	return f
}

// rates draws the learning rate at each step.
func (r *Run) rates() *plots.Figure {
	f, rates := r.ofSteps("Learning rate", func(s Step) float64 { return s.LearningRate })
	if n := len(rates); n > 0 {
		f.Subtitle("highest " + quantity.LearningRate(slices.Max(rates)) + ", now " + quantity.LearningRate(rates[n-1]))
	}
	return f
}

// norms draws the norm of the gradients at each step.
func (r *Run) norms() *plots.Figure {
	f, _ := r.ofSteps("Gradient norm", func(s Step) float64 { return cmp.Or(s.GradNorm, math.NaN()) }) // 0 was not recorded
	return f
}

// scales draws the loss scale at each step, in powers of two.
func (r *Run) scales() *plots.Figure {
	skipped := 0
	f, _ := r.ofSteps("Loss scale", func(s Step) float64 {
		if s.Skipped {
			skipped++
		}
		return math.Log2(cmp.Or(s.LossScale, math.NaN()))
	})
	return f.YLabel("power of 2").Subtitle(quantity.Plural(skipped, "step") + " skipped")
}

// MIMEBundle returns the figure of the run, with its summary as text. If [Live] has already
// displayed the figure, it returns a table of the epochs. A nil *Run prints as "no steps".
func (r *Run) MIMEBundle() map[string]any {
	switch {
	case r == nil || len(r.Steps) == 0:
		return map[string]any{"text/plain": r.String()}
	case r.drawn:
		return r.epochTable().MIMEBundle()
	}
	bundle := r.Figure().MIMEBundle()
	bundle["text/plain"] = r.Summary()
	return bundle
}

// Interactive returns the figure of the run for front ends with widgets; nil if [Run.MIMEBundle] contains none.
func (r *Run) Interactive() *display.Interactive {
	if r == nil || len(r.Steps) == 0 || r.drawn {
		return nil
	}
	return r.Figure().Interactive()
}

// MIMEMetadata returns the size of the figure, if there is one.
func (r *Run) MIMEMetadata() map[string]any {
	if r == nil || len(r.Steps) == 0 || r.drawn {
		return nil
	}
	return r.Figure().MIMEMetadata()
}
