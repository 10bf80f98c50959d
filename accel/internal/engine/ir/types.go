package ir

import "github.com/quernlab/quern/accel/internal/engine/tensortype"

// Types shared with the public package.
type (
	DType            = tensortype.DType
	ShapeError       = tensortype.ShapeError
	DTypeError       = tensortype.DTypeError
	IndexError       = tensortype.IndexError
	StateError       = tensortype.StateError
	NonFiniteError   = tensortype.NonFiniteError
	OutOfMemoryError = tensortype.OutOfMemoryError
	TraceError       = tensortype.TraceError
	DeviceError      = tensortype.DeviceError
)

// The element types.
const (
	Float32 = tensortype.Float32
	Float64 = tensortype.Float64
	Int32   = tensortype.Int32
	Int64   = tensortype.Int64
	Uint8   = tensortype.Uint8
	Bool    = tensortype.Bool

	Float16  = tensortype.Float16
	BFloat16 = tensortype.BFloat16

	Float8E4M3 = tensortype.Float8E4M3
	Float8E5M2 = tensortype.Float8E5M2
)

// FormatShape writes a shape as [2 3].
func FormatShape(shape []int) string { return tensortype.FormatShape(shape) }
