package nn

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/tensor"
)

// LayerError reports which layer of a model could not take its input.
type LayerError struct {
	Path  string // index of the layer in its Sequential; "1.0.2" if they are nested
	Layer string // the layer as Go code
	Err   error  // usually a *tensor.ShapeError
}

// Error names the layer and the reason.
func (e *LayerError) Error() string {
	return fmt.Sprintf("layer %s, %s: %v", e.Path, e.Layer, e.Err)
}

// Unwrap returns the reason.
func (e *LayerError) Unwrap() error { return e.Err }

// LengthError reports a sequence that is longer than the positions of a layer, such as
// [PositionEmbedding].
type LengthError struct {
	Layer   string // the layer as Go code
	Length  int    // of the sequence
	Longest int    // number of positions
}

// Error names the layer, the lengths, and what to do.
func (e *LengthError) Error() string {
	return fmt.Sprintf("the sequence has %d positions, but %s has only %d: cut longer sequences, or create the layer with more positions", e.Length, e.Layer, e.Longest)
}

// Catch recovers a panic with an error of package tensor, in a [*LayerError] or not, or with the
// error of a context that is done, and stores it in *err. It is meant to be deferred. Any other
// panic is a bug, for instance in a model's Forward, and continues.
//
// What a failed computation has recorded before runs now, also if the panic continues, so that its own errors, such as an
// index that is out of range, are in *err too, and not in what is computed next. It does not run after an interruption, which
// is not to wait for it, nor after the failure of a device or of another rank, without which it cannot run.
func Catch(err *error) {
	p := recover()
	if p == nil {
		return
	}
	failed, ok := p.(error)
	if !ok || !fromTensors(failed) && !interrupt.Is(failed) {
		_ = flush() // p comes first
		panic(p)
	}
	*err = failed
	var device *tensor.DeviceError
	var across *tensor.AllReduceError
	if interrupt.Is(failed) || errors.As(failed, &device) || errors.As(failed, &across) {
		return
	}
	if later := flush(); later != nil {
		*err = errors.Join(failed, later)
	}
}

// flush runs all recorded ops.
func flush() (err error) {
	defer Catch(&err)
	tensor.Flush()
	return nil
}

// fromTensors reports whether an error has one of the types with which package tensor panics.
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
		length *LengthError
	)
	return errors.As(err, &shape) || errors.As(err, &dtype) || errors.As(err, &index) ||
		errors.As(err, &state) || errors.As(err, &memory) || errors.As(err, &finite) ||
		errors.As(err, &traced) || errors.As(err, &device) || errors.As(err, &across) || errors.As(err, &length)
}

// forward runs the layer with this index. If the layer panics with an error of package tensor,
// forward adds the index and the name of the layer.
func forward(number string, layer Module, x *Tensor) *Tensor {
	if isNil(layer) {
		panic(&LayerError{number, describe(layer), &tensor.StateError{Op: "Forward", Hint: "the layer is nil: create it before the model, or leave it out"}})
	}
	var y *Tensor
	if c := trace.Active(); c != nil {
		defer c.Enter(trace.Scope{Number: number, Name: func() string { return describe(layer) }})()
	}
	err := func() (err error) {
		defer Catch(&err)
		tensors.NameScope(func() (string, string) { return number, describe(layer) }, func() { y = layer.Forward(x) })
		return nil
	}()
	switch {
	case err == nil:
		return y
	case interrupt.Is(err):
		panic(err)
	}
	if inner := (*LayerError)(nil); errors.As(err, &inner) {
		panic(&LayerError{number + "." + inner.Path, inner.Layer, inner.Err})
	}
	panic(&LayerError{number, describe(layer), err})
}

// isNil reports whether a layer is nil, or a nil pointer to a layer of this package. A nil
// pointer to another type may have a Forward that works.
func isNil(layer Module) bool {
	if layer == nil {
		return true
	}
	v := reflect.ValueOf(layer)
	return v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem().PkgPath() == reflect.TypeFor[LayerError]().PkgPath()
}
