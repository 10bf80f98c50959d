package tensor

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// FromRaw makes a tensor from a copy of its elements' bytes, row-major and little-endian, as they
// are in files. For Bool any byte but 0 is true. It panics with a *ShapeError if the shape does not
// have len(b) bytes.
func FromRaw(d DType, b []byte, shape ...int) *Tensor {
	if !d.Known() {
		panic(&DTypeError{Op: "FromRaw", DTypes: []DType{d}, Hint: "tensors cannot have this element type"})
	}
	checkShape("FromRaw", shape)
	if n := ir.Len(shape) * d.Size(); n != len(b) {
		panic(&ShapeError{Op: "FromRaw", Shapes: [][]int{slices.Clone(shape)}, Hint: fmt.Sprintf("the shape has %d bytes of %v, the data has %d", n, d, len(b))})
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

// Raw returns a copy of the elements' bytes, row-major and little-endian. It runs the recorded ops.
func (t *Tensor) Raw() (b []byte) {
	size := t.DType().Size()
	locked(func(r *ir.Recorder) { b = r.Download("Raw", t.value("Raw")) })
	return nativeBytes(b, size)
}

// nativeBytes converts elements of the given size between little-endian and the machine's byte
// order.
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
