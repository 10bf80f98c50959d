package accel

import (
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/loop"
)

// Run is the history of a training, which [Fit] returns: see [history.Run]. The types of package history that programs
// name most often have this second name here, so that a program that only trains needs one import.
type Run = history.Run

// Step is one update of the parameters: see [history.Step].
type Step = history.Step

// Epoch is one pass over the training set: see [history.Epoch].
type Epoch = history.Epoch

// Validation is one validation: see [history.Validation].
type Validation = history.Validation

// Result is what [Evaluate] measures: see [history.Result].
type Result = history.Result

// DivergedError reports that the loss of a step was NaN or infinite: see [history.DivergedError].
type DivergedError = history.DivergedError

// Observer follows a training; [Observe] registers it: see [history.Observer].
type Observer = history.Observer

// Training is what an [Observer] knows of the training that it follows: see [history.Training].
type Training = history.Training

// NopObserver is an [Observer] that does nothing, to be embedded: see [history.NopObserver].
type NopObserver = history.NopObserver

// ErrStop is returned by a method of an [Observer] to end the training early. Fit then returns no error.
var ErrStop = history.ErrStop

// Metric is a quantity that [Live] can draw: see [history.Metric].
type Metric = history.Metric

// The metrics. Without a GPU, the utilization and memory of the CPU replace those of the GPU.
const (
	Loss         = history.Loss         // of training and validation
	Accuracy     = history.Accuracy     // of training and validation
	LearningRate = history.LearningRate // at each step
	GPUUtil      = history.GPUUtil      // share of time in which the GPU is busy
	GPUMem       = history.GPUMem       // memory of the GPU in use
	Power        = history.Power        // power that the GPU draws
	LossScale    = history.LossScale    // at each step, with AMP(FP16)
	GradNorm     = history.GradNorm     // at each step, with RecordGradNorm
)

// MissingParametersError reports that a model computes with parameters that nn.Parameters does not find: see
// [history.MissingParametersError].
type MissingParametersError = history.MissingParametersError

// ErrBusy is returned by [Fit] while another Fit runs.
var ErrBusy = loop.ErrBusy
