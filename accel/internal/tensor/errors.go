package tensor

import (
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
	return fmt.Sprintf("out of memory on %s: %d bytes are needed%s; try a smaller batch, several small ones whose gradients add up, or Checkpoint", e.Device, e.Need, free)
}

// FormatShape writes a shape as [2 3].
func FormatShape(s []int) string {
	return fmt.Sprint(append([]int{}, s...))
}
