package ir

import "github.com/quernlab/quern/accel/internal/tensor"

// Types shared with the public package.
type (
	DType            = tensor.DType
	ShapeError       = tensor.ShapeError
	DTypeError       = tensor.DTypeError
	IndexError       = tensor.IndexError
	StateError       = tensor.StateError
	NonFiniteError   = tensor.NonFiniteError
	OutOfMemoryError = tensor.OutOfMemoryError
	TraceError       = tensor.TraceError
	DeviceError      = tensor.DeviceError
)

// The element types.
const (
	Float32 = tensor.Float32
	Float64 = tensor.Float64
	Int32   = tensor.Int32
	Int64   = tensor.Int64
	Uint8   = tensor.Uint8
	Bool    = tensor.Bool

	Float16  = tensor.Float16
	BFloat16 = tensor.BFloat16

	Float8E4M3 = tensor.Float8E4M3
	Float8E5M2 = tensor.Float8E5M2
)

// FormatShape writes a shape as [2 3].
func FormatShape(shape []int) string { return tensor.FormatShape(shape) }
