package quantize

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// ErrNoExamples says that there is nothing to find ranges with.
var ErrNoExamples = errors.New("quantize: there are no examples to calibrate with")

// ErrNothing says that a model has no layer that can be quantised.
var ErrNothing = errors.New("quantize: no layer of the model can be quantised")

// UnknownLayerError says that a model has no layer of a name.
type UnknownLayerError struct {
	Name  string
	Known []string // layers that can be quantised
}

// Error names the layers that there are.
func (e *UnknownLayerError) Error() string {
	return fmt.Sprintf("quantize: there is no layer %q to quantise; there are %q", e.Name, e.Known)
}

// LayerError says why a layer could not be calibrated, such as a
// *tensor.NonFiniteError of what it was given.
type LayerError struct {
	Name string
	Err  error
}

// Error names the layer.
func (e *LayerError) Error() string { return fmt.Sprintf("quantize: layer %s: %v", e.Name, e.Err) }

// Unwrap is the reason.
func (e *LayerError) Unwrap() error { return e.Err }

// DeviceError says that quantised models run on the processor, and another device is
// in use.
type DeviceError struct{ Device string }

// Error tells what to do.
func (e *DeviceError) Error() string {
	return fmt.Sprintf("quantize: quantised models run on the processor, and %q is in use: call accel.Use(\"cpu\")", e.Device)
}

// Unwrap is a *tensor.StateError: Predict and Evaluate return it.
func (e *DeviceError) Unwrap() error {
	return &tensor.StateError{Op: "quantize", Hint: "the device is not the processor"}
}

// ChangedError says that a weight of the model is not what it was when the model was
// quantised.
type ChangedError struct{ Name string }

// Error tells what to do.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("quantize: %s of the model has changed since it was quantised: quantise it again", e.Name)
}

// Unwrap is a *tensor.StateError: Predict and Evaluate return it.
func (e *ChangedError) Unwrap() error {
	return &tensor.StateError{Op: "quantize", Hint: e.Name + " has changed"}
}
