package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Tensor is an n-dimensional array whose elements are computed on demand. Ops return new tensors
// and never change their inputs; Assign and SetData give a tensor a new value.
type Tensor struct {
	v    *ir.Value // nil after Release
	leaf *ir.Leaf  // set for a parameter

	// borrowed is set after Assign has moved the value to another tensor, which may overwrite it.
	borrowed bool

	metadata any // set by tensors.SetMetadata; nil if there is none
}

// DType is the type of a tensor's elements.
type DType = ir.DType

// The element types; Cast converts between them. Arithmetic is done in Float32 and Float64; Float64
// is exact rather than fast. An op of 16-bit floats, and each of its gradients, computes the
// Float32 result from the unrounded inputs and rounds it to nearest, ties to even. If one of its
// inputs is Float32, the result is Float32.
const (
	Float32 = ir.Float32
	Float64 = ir.Float64
	Int32   = ir.Int32
	Int64   = ir.Int64
	Uint8   = ir.Uint8
	Bool    = ir.Bool

	Float16  = ir.Float16  // IEEE 754 binary16
	BFloat16 = ir.BFloat16 // the upper 16 bits of a Float32
)

// ShapeError says that an op cannot take tensors of these shapes. Ops panic with it when they are
// called.
type ShapeError = ir.ShapeError

// DTypeError says that an op cannot take tensors of these element types. Ops panic with it when
// they are called.
type DTypeError = ir.DTypeError

// TraceError says that a function cannot be exported or drawn, because it does something besides ops: it reads
// elements that depend on its input, or keeps such a tensor for the next call. The op that does so
// panics with it.
type TraceError = ir.TraceError

// IndexError says that an index or label is out of range. Ops panic with it when they are called if
// the index is known, otherwise when the index is used.
type IndexError = ir.IndexError

// StateError says that a tensor or the device is in a state that does not allow the call, for
// example after Release.
type StateError = ir.StateError

// OutOfMemoryError says that the device could not allocate the memory.
type OutOfMemoryError = ir.OutOfMemoryError

// DeviceError says that a device failed: it does not support an op, a kernel has faulted, or the
// device is lost.
type DeviceError = ir.DeviceError

func wrap(v *ir.Value) *Tensor { return &Tensor{v: v.Hold()} }

func (t *Tensor) value(op string) *ir.Value {
	if t == nil {
		panic(&StateError{Op: op, Hint: "the tensor is nil"})
	}
	if t.v == nil {
		panic(&StateError{Op: op, Hint: "the tensor was released; it cannot be used after Release"})
	}
	return t.v
}

// holdValue returns the value after making sure that t holds a reference to it.
func (t *Tensor) holdValue(op string) *ir.Value {
	v := t.value(op)
	if t.borrowed {
		v.Hold()
		t.borrowed = false
	}
	return v
}

// lockedValue returns the value, read under the lock because Assign may replace it.
func (t *Tensor) lockedValue(op string) (v *ir.Value) {
	locked(func(*ir.Recorder) { v = t.value(op) })
	return v
}

// Shape returns a copy of the sizes of the dimensions, empty for a scalar.
func (t *Tensor) Shape() []int { return slices.Clone(t.lockedValue("Shape").Shape()) }

// Size returns the size of dimension i; a negative i counts from the end.
func (t *Tensor) Size(i int) int {
	s := t.lockedValue("Size").Shape()
	return s[axis("Size", s, i)]
}

// NDim returns the number of dimensions.
func (t *Tensor) NDim() int { return len(t.lockedValue("NDim").Shape()) }

// Numel returns the number of elements.
func (t *Tensor) Numel() int { return t.lockedValue("Numel").Len() }

// DType returns the type of the elements.
func (t *Tensor) DType() DType { return t.lockedValue("DType").DType() }

// axis returns the index of an axis; a negative one counts from the end.
func axis(op string, shape []int, i int) int {
	a := i
	if a < 0 {
		a += len(shape)
	}
	if a < 0 || a >= len(shape) {
		panic(&ShapeError{Op: op, Shapes: [][]int{slices.Clone(shape)}, Hint: fmt.Sprintf("axis %d is out of range, the tensor has %d dimensions", i, len(shape))})
	}
	return a
}

// Release declares that the tensor will not be used again, so that its value can be fused away or
// freed after the recorded ops. Calling it is optional and saves memory; layers and optimizers
// release their intermediate results. Using the tensor afterwards panics with a *StateError.
func (t *Tensor) Release() {
	locked(func(r *ir.Recorder) {
		if t.v != nil {
			r.Release(t.holdValue("Release"))
			t.v = nil
		}
	})
}
