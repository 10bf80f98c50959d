package quantize

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// ErrNoExamples is returned if there are no examples for calibration.
var ErrNoExamples = errors.New("quantize: there are no examples for calibration: the data set is nil or empty")

// ErrNothing is returned if no layer of a model can be quantized.
var ErrNothing = errors.New("quantize: no layer of the model can be quantized: Static quantizes linear layers and convolutions, WeightOnly linear layers, except those that the option Float names or that calibration never calls")

// UnknownLayerError is returned if an option names a layer that the model does not have.
type UnknownLayerError struct {
	Name  string   // as given
	Known []string // layers that can be quantized
}

// Error lists the existing layers.
func (e *UnknownLayerError) Error() string {
	return fmt.Sprintf("quantize: there is no quantizable layer %q; the layers are %q", e.Name, e.Known)
}

// LayerError says why a layer could not be calibrated, such as a *tensor.NonFiniteError of its
// input.
type LayerError struct {
	Name string // of the layer in the model
	Err  error  // the reason
}

// Error names the layer.
func (e *LayerError) Error() string { return fmt.Sprintf("quantize: layer %s: %v", e.Name, e.Err) }

// Unwrap returns the reason.
func (e *LayerError) Unwrap() error { return e.Err }

// DeviceError is returned if a quantized model is used while the current device is not the CPU.
type DeviceError struct {
	Device string // the current device
}

// Error says what to do.
func (e *DeviceError) Error() string {
	return fmt.Sprintf("quantize: quantized models run on the CPU, but the current device is %q: call accel.SetDevice(\"cpu\")", e.Device)
}

// Unwrap returns a *tensor.StateError, so that Predict and Evaluate return the error instead of
// panicking.
func (e *DeviceError) Unwrap() error {
	return &tensor.StateError{Op: "quantize", Hint: "the current device is not the CPU"}
}

// ChangedError is returned if a weight of the original model has changed since the model was
// quantized.
type ChangedError struct {
	Name string // of the weight in the model
}

// Error says what to do.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("quantize: %s of the model has changed since the model was quantized: quantize it again", e.Name)
}

// Unwrap returns a *tensor.StateError, so that Predict and Evaluate return the error instead of
// panicking.
func (e *ChangedError) Unwrap() error {
	return &tensor.StateError{Op: "quantize", Hint: e.Name + " has changed"}
}
