package tensor

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// FromRaw makes a tensor of a copy of its elements' bytes in row-major order,
// little-endian, as files have them. What is not 0 is true for Bool. It panics
// with a *ShapeError if the shape does not have as many bytes.
func FromRaw(d DType, b []byte, shape ...int) *Tensor {
	if !d.Known() {
		panic(&DTypeError{Op: "FromRaw", DTypes: []DType{d}, Hint: "there is no such element type"})
	}
	checkShape("FromRaw", shape)
	if n := ir.Len(shape) * d.Size(); n != len(b) {
		panic(&ShapeError{Op: "FromRaw", Shapes: [][]int{slices.Clone(shape)}, Hint: fmt.Sprintf("%d bytes of %v are needed, there are %d", n, d, len(b))})
	}
	b = nativeBytes(b, d.Size())
	if d == Bool {
		b = slices.Clone(b)
		for i, v := range b {
			if v != 0 {
				b[i] = 1
			}
		}
	}
	var t *Tensor
	locked(func(r *ir.Recorder) { t = wrap(r.Upload(ir.Type{Shape: shape, DType: d}, b)) })
	return t
}

// Raw returns a copy of the elements' bytes in row-major order, little-endian. It runs
// what was recorded.
func (t *Tensor) Raw() (b []byte) {
	size := t.DType().Size()
	locked(func(r *ir.Recorder) { b = r.Download("Raw", t.value("Raw")) })
	return nativeBytes(b, size)
}

// nativeBytes turns elements of so many bytes around where the machine is not
// little-endian.
func nativeBytes(b []byte, size int) []byte {
	if size == 1 || binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return b
	}
	b = slices.Clone(b)
	for i := 0; i < len(b); i += size {
		slices.Reverse(b[i : i+size])
	}
	return b
}
