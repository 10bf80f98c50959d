package accel

import "fmt"

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
)

var metricNames = [...]string{"Loss", "Accuracy", "LearningRate", "GPUUtil", "GPUMem", "Power", "LossScale"}

// String returns the name of the constant.
func (m Metric) String() string {
	if m < 0 || int(m) >= len(metricNames) {
		return fmt.Sprintf("Metric(%d)", int(m))
	}
	return metricNames[m]
}

// ofDevice reports whether the metric is about the utilization of the machine.
func (m Metric) ofDevice() bool { return m == GPUUtil || m == GPUMem || m == Power }
