package history

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/internal/quantity"
)

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
