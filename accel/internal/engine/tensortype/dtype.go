package tensortype

import "fmt"

// DType is the type of a tensor's elements.
type DType uint8

// The element types. Arithmetic is done in Float32 and Float64; the other types store values that
// can be moved, compared, cast, and used as indices or masks.
const (
	Float32 DType = iota
	Float64
	Int32
	Int64
	Uint8
	Bool
	Float16  // IEEE 754 binary16
	BFloat16 // the upper 16 bits of a Float32

	// The 8-bit floats in which devices multiply matrices, within a program. No tensor has them:
	// their range is too small without a scale per tensor.
	Float8E4M3 // 4 exponent bits, 3 fraction bits: up to 448, without infinities
	Float8E5M2 // 5 exponent bits, 2 fraction bits: up to 57 344
)

var dtypes = [...]struct {
	name string
	size int
}{
	Float32: {"float32", 4},
	Float64: {"float64", 8},
	Int32:   {"int32", 4},
	Int64:   {"int64", 8},
	Uint8:   {"uint8", 1},
	Bool:    {"bool", 1},

	Float16:  {"float16", 2},
	BFloat16: {"bfloat16", 2},

	Float8E4M3: {"float8_e4m3", 1},
	Float8E5M2: {"float8_e5m2", 1},
}

// String returns the name of the type, Go's name if Go has the type.
func (d DType) String() string {
	if int(d) >= len(dtypes) {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Size returns the number of bytes of one element.
func (d DType) Size() int { return dtypes[d].size }

// IsFloat reports whether gradients can flow through tensors of the type.
func (d DType) IsFloat() bool { return d == Float32 || d == Float64 || d.Is16Bit() }

// Is16Bit reports whether an element is a 16-bit float.
func (d DType) Is16Bit() bool { return d == Float16 || d == BFloat16 }

// IsFP8 reports whether an element is an 8-bit float.
func (d DType) IsFP8() bool { return d == Float8E4M3 || d == Float8E5M2 }

// Known reports whether tensors can have the type.
func (d DType) Known() bool { return d <= BFloat16 }
