package nn

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/tensor"
)

// LayerError says which layer could not take its input.
type LayerError struct {
	Path  string // the number of the layer, within chains of chains "1.0.2"
	Layer string // what the layer calls itself
	Err   error  // usually a *tensor.ShapeError
}

// Error names the layer and the reason.
func (e *LayerError) Error() string {
	return fmt.Sprintf("layer %s, %s: %v", e.Path, e.Layer, e.Err)
}

// Unwrap returns the reason.
func (e *LayerError) Unwrap() error { return e.Err }

// Catch is deferred by functions that return an error: it turns a panic with
// an error of the tensor package, in a [*LayerError] or not, into that error.
// Any other panic is a bug of the program, in a model's Forward for instance,
// and goes on.
func Catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		if !fromTensors(p) {
			panic(p)
		}
		*err = p
	default:
		panic(p)
	}
}

// fromTensors reports whether an error is of one of the types with which tensor
// maths panics.
func fromTensors(err error) bool {
	var (
		shape  *tensor.ShapeError
		dtype  *tensor.DTypeError
		index  *tensor.IndexError
		state  *tensor.StateError
		memory *tensor.OutOfMemoryError
		finite *tensor.NonFiniteError
		traced *tensor.TraceError
		device *tensor.DeviceError
		across *tensor.AllReduceError
	)
	return errors.As(err, &shape) || errors.As(err, &dtype) || errors.As(err, &index) ||
		errors.As(err, &state) || errors.As(err, &memory) || errors.As(err, &finite) ||
		errors.As(err, &traced) || errors.As(err, &device) || errors.As(err, &across)
}

// forward runs the layer with this number, and names it if it panics with an
// error of the tensor package.
func forward(number string, layer Module, x *Tensor) *Tensor {
	var y *Tensor
	if c := trace.Active(); c != nil {
		defer c.Enter(trace.Scope{Number: number, Name: func() string { return describe(layer) }})()
	}
	err := func() (err error) {
		defer Catch(&err)
		tensor.NameScope(func() (string, string) { return number, describe(layer) }, func() { y = layer.Forward(x) })
		return nil
	}()
	if err == nil {
		return y
	}
	if inner := (*LayerError)(nil); errors.As(err, &inner) {
		panic(&LayerError{number + "." + inner.Path, inner.Layer, inner.Err})
	}
	panic(&LayerError{number, describe(layer), err})
}
