package tensortype

import (
	"errors"
	"fmt"
	"strings"
)

// ShapeError says that an op cannot take tensors of these shapes. It is
// raised where the op is called, not where it runs.
type ShapeError struct {
	Op     string  // name of the op, as its public function is called
	Shapes [][]int // shapes of the inputs, in order
	Hint   string  // what would be right
}

// Error names the op, the shapes and what would be right.
func (e *ShapeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.Op)
	for i, s := range e.Shapes {
		if i > 0 {
			b.WriteString(" and ")
		}
		b.WriteString(FormatShape(s))
	}
	if len(e.Shapes) == 0 {
		b.WriteString(e.Hint)
		return b.String()
	}
	if e.Hint != "" {
		b.WriteString(": " + e.Hint)
	}
	return b.String()
}

// DTypeError says that an op cannot take tensors of these element types.
type DTypeError struct {
	Op     string
	DTypes []DType
	Hint   string
}

// Error names the op, the element types and what would be right.
func (e *DTypeError) Error() string {
	if len(e.DTypes) == 0 {
		return e.Op + ": " + e.Hint
	}
	names := make([]string, len(e.DTypes))
	for i, d := range e.DTypes {
		names[i] = d.String()
	}
	return fmt.Sprintf("%s: %s: %s", e.Op, strings.Join(names, " and "), e.Hint)
}

// IndexError says that an index tensor points outside of what it indexes.
type IndexError struct {
	Op    string
	Index int // the offending index
	Size  int // valid indices are 0 to Size-1
}

// Error names the op, the index and the valid range.
func (e *IndexError) Error() string {
	return fmt.Sprintf("%s: index %d is outside 0..%d", e.Op, e.Index, e.Size-1)
}

// StateError says that a tensor can no longer be used in this way, for
// example after Release, or in a second Backward through the same graph.
type StateError struct {
	Op   string
	Hint string
}

// Error names the op and the reason.
func (e *StateError) Error() string { return e.Op + ": " + e.Hint }

// NonFiniteError says that a tensor that was to be finite is not.
type NonFiniteError struct {
	What    string  // the tensor, as the caller named it
	Element int     // the first such element, in row-major order
	Value   float64 // NaN, +Inf or -Inf
}

// Error names the tensor and the value.
func (e *NonFiniteError) Error() string {
	if e.Element == 0 {
		return fmt.Sprintf("%s is %v", e.What, e.Value)
	}
	return fmt.Sprintf("%s: element %d is %v", e.What, e.Element, e.Value)
}

// TraceError says that a function cannot be traced because of what it does beside
// ops.
type TraceError struct {
	Op          string // that it did
	Path, Layer string // where; empty outside of layers

	Reading   bool // it read what depends on its input
	Assigning bool // it kept what depends on its input
	Hint      string
}

// Error names the op and the reason.
func (e *TraceError) Error() string { return e.Op + ": " + e.Hint }

// OutOfMemoryError says that a device could not give the bytes asked for.
type OutOfMemoryError struct {
	Device string
	Need   int // bytes asked for
	Free   int // bytes left, -1 when unknown
}

// Error gives the bytes needed and free, and what to try.
func (e *OutOfMemoryError) Error() string {
	free := ""
	if e.Free >= 0 {
		free = fmt.Sprintf(", %d are free", e.Free)
	}
	return fmt.Sprintf("out of memory on %s: %d bytes are needed%s; try a smaller batch, several small ones whose gradients add up (accel.Accumulate), or accel.Recompute", e.Device, e.Need, free)
}

// DeviceError says that a device could not do what was asked of it: it lacks an op,
// a kernel has faulted, or the device is gone.
type DeviceError struct {
	Device string
	Err    error // which begins with the device's name
}

// Error returns that of the device.
func (e *DeviceError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *DeviceError) Unwrap() error { return e.Err }

// OfDevice gives an error of a device a type, if it has none yet.
func OfDevice(device string, err error) error {
	var (
		memory *OutOfMemoryError
		index  *IndexError
		finite *NonFiniteError
		dtype  *DTypeError
		shape  *ShapeError
		state  *StateError
		known  *DeviceError
	)
	if err == nil || errors.As(err, &memory) || errors.As(err, &index) || errors.As(err, &finite) || errors.As(err, &dtype) ||
		errors.As(err, &shape) || errors.As(err, &state) || errors.As(err, &known) {
		return err
	}
	return &DeviceError{Device: device, Err: err}
}

// FormatShape writes a shape as [2 3].
func FormatShape(s []int) string {
	return fmt.Sprint(append([]int{}, s...))
}
