package tensortype

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// ShapeError says that an op cannot take tensors of these shapes. It is raised when the op is
// called, not when it runs.
type ShapeError struct {
	Op     string  // the public name of the op
	Shapes [][]int // shapes of the inputs, in order
	Hint   string  // what the op requires
}

// Error names the op, the shapes and the requirement.
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

// Error names the op, the element types and the requirement.
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

// IndexError says that an element of an index tensor is out of range.
type IndexError struct {
	Op      string
	Index   int // the index that is out of range
	Element int // its place in the index tensor, in row-major order; -1 if unknown
	From    int // the lowest valid index, 0 but for lengths
	Size    int // valid indices are From to Size-1

	late bool // see IsLate
}

// IsLate reports whether an index was found to be out of range when recorded ops ran, which may be long after the call of the op.
func IsLate(e *IndexError) bool { return e.late }

// Error names the op, the index, its place and the valid range. The indices of CrossEntropy are the
// classes of its rows; other losses of classes, and those with options, look them up by OneHot.
func (e *IndexError) Error() string {
	what, place := "index", ""
	if e.Op == "CrossEntropy" {
		what = "class"
	}
	switch {
	case e.Element < 0:
	case e.Op == "CrossEntropy":
		place = fmt.Sprintf(" of row %d", e.Element)
	default:
		place = fmt.Sprintf(" (element %d)", e.Element)
	}
	if e.Index == math.MinInt32 { // what a float that is no integer becomes
		return fmt.Sprintf("%s: the %s%s is not a whole number from %d to %d", e.Op, what, place, e.From, e.Size-1)
	}
	text := fmt.Sprintf("%s: %s %d%s is outside %d..%d", e.Op, what, e.Index, place, e.From, e.Size-1)
	if e.Op == "CrossEntropy" {
		if text += fmt.Sprintf(": the logits have %d classes", e.Size); e.Index == e.Size {
			text += ", and the first one is class 0"
		}
	}
	if e.Index < 0 && (e.Op == "CrossEntropy" || e.Op == "OneHot") { // such as data.Ignored
		text += fmt.Sprintf("; a loss leaves it out with nn.IgnoreIndex(%d)", e.Index)
	}
	return text
}

// StateError says that a tensor or the device is in a state that does not allow the call, for
// example after Release, or in a second Backward through the same graph.
type StateError struct {
	Op   string
	Hint string
}

// Error names the op and the reason.
func (e *StateError) Error() string { return e.Op + ": " + e.Hint }

// NonFiniteError says that a tensor checked by RequireFinite is not finite.
type NonFiniteError struct {
	What    string  // the caller's name for the tensor
	Element int     // index of the first such element, in row-major order
	Value   float64 // NaN, +Inf or -Inf
}

// Error names the tensor and the value.
func (e *NonFiniteError) Error() string {
	if e.Element == 0 {
		return fmt.Sprintf("%s is %v", e.What, e.Value)
	}
	return fmt.Sprintf("%s: element %d is %v", e.What, e.Element, e.Value)
}

// TraceError says that a function cannot be traced because it does something besides ops.
type TraceError struct {
	Op          string // what the function called
	Path, Layer string // the layer that called it; empty outside of layers

	Reading   bool // it read elements that depend on its input
	Assigning bool // it kept a tensor that depends on its input
	Hint      string
}

// Error names the op and the reason.
func (e *TraceError) Error() string { return e.Op + ": " + e.Hint }

// OutOfMemoryError says that a device could not allocate the memory.
type OutOfMemoryError struct {
	Device string
	Need   int // bytes requested
	Free   int // bytes available, -1 if unknown
}

// Error returns the bytes requested and available, and what to try.
func (e *OutOfMemoryError) Error() string {
	free := ""
	if e.Free >= 0 {
		free = fmt.Sprintf(", %d are free", e.Free)
	}
	return fmt.Sprintf("out of memory on %s: %d bytes are needed%s; try a smaller batch, gradient accumulation (accel.Accumulate) or recomputation (accel.Recompute)", e.Device, e.Need, free)
}

// DeviceError says that a device failed: it does not support an op, a kernel has faulted, or the
// device is lost.
type DeviceError struct {
	Device string
	Err    error // its message begins with the device's name
}

// Error returns the message of Err.
func (e *DeviceError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *DeviceError) Unwrap() error { return e.Err }

// OfDevice wraps an error of a device, which has run ops, in a *DeviceError, unless it already has one of the types of
// this package.
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
	if errors.As(err, &index) {
		index.late = true
		return err
	}
	if err == nil || errors.As(err, &memory) || errors.As(err, &finite) || errors.As(err, &dtype) ||
		errors.As(err, &shape) || errors.As(err, &state) || errors.As(err, &known) {
		return err
	}
	return &DeviceError{Device: device, Err: err}
}

// FormatShape formats a shape as [2 3].
func FormatShape(s []int) string {
	return fmt.Sprint(append([]int{}, s...))
}
