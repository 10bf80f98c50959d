package accel

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Result is what [Evaluate] measures. It displays itself with the confusion matrix of a
// classifier.
type Result struct {
	dataset   string
	loss      float64
	accuracy  float64
	examples  int
	elapsed   time.Duration
	classes   []string
	counts    [][]int // by class and predicted class; nil unless a classifier
	metrics   []MetricValue
	collected *metrics.Collection // nil without metrics
	nonFinite string              // why the loss is not finite: the first non-finite example or tensor of the model
}

// Loss returns the mean loss over the examples.
func (r *Result) Loss() float64 { return r.loss }

// Accuracy returns the share of correct predictions, from 0 to 1, and NaN for regression, for
// outputs that are no scores of the classes, or if a prediction is NaN.
func (r *Result) Accuracy() float64 { return r.accuracy }

// Metrics returns the values of the metrics of option [Metrics], in their order.
func (r *Result) Metrics() []MetricValue { return slices.Clone(r.metrics) }

// Metric returns the value of the metric of option [Metrics] with a name, such as "F1 (macro)". It
// is NaN if there is no such metric.
func (r *Result) Metric(name string) float64 { return valueOf(r.metrics, name) }

// Collection returns the measurement of the metrics of option [Metrics], which has curves and
// bins besides values: [metrics.Collection.ROC], for instance. It is nil without metrics and if a
// prediction was NaN.
func (r *Result) Collection() *metrics.Collection { return r.collected }

// Len returns the number of examples.
func (r *Result) Len() int { return r.examples }

// Seconds returns how long the evaluation took.
func (r *Result) Seconds() float64 { return r.elapsed.Seconds() }

// ConfusionMatrix returns the confusion matrix: element [i][j] is the number of examples of
// class i that the model predicted as class j. It is nil for regression.
func (r *Result) ConfusionMatrix() [][]int {
	var counts [][]int
	for _, row := range r.counts {
		counts = append(counts, append([]int(nil), row...))
	}
	return counts
}

// Figure draws the confusion matrix. The figure is empty for regression.
func (r *Result) Figure() *plots.Figure {
	return plots.Confusion(r.dataset, r.classes, r.counts).Subtitle(r.measured())
}

// String describes the result in one line.
func (r *Result) String() string { return r.dataset + ": " + r.measured() }

func (r *Result) measured() string {
	text := "loss " + number(r.loss)
	if !math.IsNaN(r.accuracy) {
		text += ", accuracy " + percent(r.accuracy)
	}
	for _, v := range r.metrics {
		text += ", " + v.Name + " " + v.text()
	}
	if r.nonFinite != "" {
		text += " (" + r.nonFinite + ")"
	}
	return text + fmt.Sprintf(", %s examples, %s", display.Integer(r.examples), seconds(r.elapsed))
}

// maxConfusion is the largest number of classes whose confusion matrix is still readable.
const maxConfusion = 30

// MIMEBundle returns the result as text, with the confusion matrix of a classifier of at most
// thirty classes.
func (r *Result) MIMEBundle() map[string]any {
	bundle := map[string]any{}
	if r.drawn() {
		bundle = r.Figure().MIMEBundle()
	}
	bundle["text/plain"] = r.String()
	return bundle
}

// MIMEMetadata returns the size of the figure, if there is one.
func (r *Result) MIMEMetadata() map[string]any {
	if r.drawn() {
		return r.Figure().MIMEMetadata()
	}
	return nil
}

func (r *Result) drawn() bool { return len(r.counts) > 1 && len(r.counts) <= maxConfusion }
