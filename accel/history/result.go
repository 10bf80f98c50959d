package history

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// Result is what [accel.Evaluate] measures. It displays itself with the confusion matrix of a
// classifier.
type Result struct{ m Measurements }

// Measurements are the values of a [Result].
type Measurements struct {
	Dataset    string              // name of the data set
	Examples   int                 // their number
	Classes    []string            // names; nil for regression
	Loss       float64             // mean over the examples
	Accuracy   float64             // NaN if there is none
	Counts     [][]int             // of examples by class and predicted class; nil unless a classifier
	Metrics    []MetricValue       // of option Metrics
	Collection *metrics.Collection // of the metrics; nil without them
	NonFinite  string              // why the loss is not finite: the first non-finite example or tensor of the model
	Elapsed    time.Duration       // of the evaluation
}

// NewResult returns a result with these values.
func NewResult(m Measurements) *Result { return &Result{m} }

// Loss returns the mean loss over the examples.
func (r *Result) Loss() float64 { return r.m.Loss }

// Accuracy returns the share of correct predictions, from 0 to 1, and NaN for regression, for
// outputs that are no scores of the classes, or if a prediction is NaN.
func (r *Result) Accuracy() float64 { return r.m.Accuracy }

// Metrics returns the values of the metrics of option Metrics, in their order.
func (r *Result) Metrics() []MetricValue { return slices.Clone(r.m.Metrics) }

// Metric returns the value of the metric of option Metrics with a name, such as "F1 (macro)". It
// is NaN if there is no such metric.
func (r *Result) Metric(name string) float64 { return valueOf(r.m.Metrics, name) }

// Collection returns the measurement of the metrics of option Metrics, which has curves and
// bins besides values: [metrics.Collection.ROC], for instance. It is nil without metrics and if a
// prediction was NaN.
func (r *Result) Collection() *metrics.Collection { return r.m.Collection }

// Len returns the number of examples.
func (r *Result) Len() int { return r.m.Examples }

// Seconds returns how long the evaluation took.
func (r *Result) Seconds() float64 { return r.m.Elapsed.Seconds() }

// ConfusionMatrix returns the confusion matrix: element [i][j] is the number of examples of
// class i that the model predicted as class j. It is nil for regression.
func (r *Result) ConfusionMatrix() [][]int {
	var counts [][]int
	for _, row := range r.m.Counts {
		counts = append(counts, append([]int(nil), row...))
	}
	return counts
}

// Figure draws the confusion matrix. The figure is empty for regression.
func (r *Result) Figure() *plots.Figure {
	return plots.Confusion(r.m.Dataset, r.m.Classes, r.m.Counts).Subtitle(r.measured())
}

// String describes the result in one line.
func (r *Result) String() string { return r.m.Dataset + ": " + r.measured() }

func (r *Result) measured() string {
	text := "loss " + quantity.Number(r.m.Loss)
	if !math.IsNaN(r.m.Accuracy) {
		text += ", accuracy " + quantity.Percent(r.m.Accuracy)
	}
	for _, v := range r.m.Metrics {
		text += ", " + v.Name + " " + v.text()
	}
	if r.m.NonFinite != "" {
		text += " (" + r.m.NonFinite + ")"
	}
	return text + fmt.Sprintf(", %s examples, %s", display.Integer(r.m.Examples), quantity.Elapsed(r.m.Elapsed))
}

// maxConfusion is the largest number of classes whose confusion matrix is still readable.
const maxConfusion = 30

// Report returns the result as text, with the confusion matrix of a classifier of at most
// thirty classes.
func (r *Result) Report() *display.Report {
	out := new(display.Report).Alt(r.String())
	if n := len(r.m.Counts); n > 1 && n <= maxConfusion {
		out.Figure(r.Figure())
	}
	return out
}

// Metric is a quantity that [Live] can draw.
type Metric int

// The metrics. Without a GPU, the utilization and memory of the CPU replace those of the GPU.
const (
	Loss         Metric = iota // of training and validation
	Accuracy                   // of training and validation
	LearningRate               // at each step
	GPUUtil                    // share of time in which the GPU is busy
	GPUMem                     // memory of the GPU in use
	Power                      // power that the GPU draws
	LossScale                  // at each step, with AMP(FP16)
	GradNorm                   // at each step, with RecordGradNorm
)

var metricNames = [...]string{"Loss", "Accuracy", "LearningRate", "GPUUtil", "GPUMem", "Power", "LossScale", "GradNorm"}

// String returns the name of the constant.
func (m Metric) String() string {
	if m < 0 || int(m) >= len(metricNames) {
		return fmt.Sprintf("Metric(%d)", int(m))
	}
	return metricNames[m]
}

// OfDevice reports whether the metric is about the utilization of the machine.
func (m Metric) OfDevice() bool { return m == GPUUtil || m == GPUMem || m == Power }

// MetricValue is the value of a metric of option Metrics.
type MetricValue struct {
	Name  string  // as metrics.Value
	Value float64 // NaN if a prediction is NaN
	Share bool    // the value is from 0 to 1
}

// text formats the value: a share in percent, as the accuracy.
func (v MetricValue) text() string {
	switch {
	case math.IsNaN(v.Value):
		return "–"
	case v.Share:
		return quantity.Percent(v.Value)
	}
	return quantity.Number(v.Value)
}

// valueOf returns the value of the metric of a name; NaN if there is none.
func valueOf(values []MetricValue, name string) float64 {
	for _, v := range values {
		if v.Name == name {
			return v.Value
		}
	}
	return math.NaN()
}
