package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Tensor is an n-dimensional array whose elements are computed when they are
// asked for. Ops return new tensors and never change their inputs; Assign and
// SetData give a tensor a new value.
type Tensor struct {
	v    *ir.Value // nil after Release
	leaf *ir.Leaf  // set for a parameter

	// borrowed says that Assign moved the value to another tensor, which may
	// overwrite it.
	borrowed bool

	memo *any // of Remember; nil for nothing
}

// DType is the type of a tensor's elements.
type DType = ir.DType

// The element types; Cast converts. Arithmetic is done in Float32 and Float64; in
// Float64 it is made for exactness, not for speed. Of the 16-bit floats an op computes the Float32 result, with the inputs as they
// are, and rounds it to the nearest, to the even one of two; so does each of its
// gradients. With a Float32 input among them the result is Float32.
const (
	Float32 = ir.Float32
	Float64 = ir.Float64
	Int32   = ir.Int32
	Int64   = ir.Int64
	Uint8   = ir.Uint8
	Bool    = ir.Bool

	Float16  = ir.Float16  // IEEE 754 binary16
	BFloat16 = ir.BFloat16 // the upper half of a Float32
)

// ShapeError says that an op cannot take tensors of these shapes; ops panic
// with it where they are called.
type ShapeError = ir.ShapeError

// DTypeError says that an op cannot take tensors of these element types; ops
// panic with it where they are called.
type DTypeError = ir.DTypeError

// IndexError says that an index or label is out of range. Ops panic with it
// where they are called if the index is known then, else when it is used.
type IndexError = ir.IndexError

// StateError says that a tensor can no longer be used in this way.
type StateError = ir.StateError

// OutOfMemoryError says that the device could not give the memory asked for.
type OutOfMemoryError = ir.OutOfMemoryError

// DeviceError says that a device could not do what was asked of it: it lacks an op, a
// kernel has faulted, or the device is gone.
type DeviceError = ir.DeviceError

func wrap(v *ir.Value) *Tensor { return &Tensor{v: v.Hold()} }

func (t *Tensor) value(op string) *ir.Value {
	if t == nil {
		panic(&StateError{Op: op, Hint: "the tensor is nil"})
	}
	if t.v == nil {
		panic(&StateError{Op: op, Hint: "the tensor was released"})
	}
	return t.v
}

// own returns the tensor's value, of which it is a holder from now on.
func (t *Tensor) own(op string) *ir.Value {
	v := t.value(op)
	if t.borrowed {
		v.Hold()
		t.borrowed = false
	}
	return v
}

// known returns the tensor's value read under the lock, since Assign replaces it.
func (t *Tensor) known(op string) (v *ir.Value) {
	locked(func(*ir.Recorder) { v = t.value(op) })
	return v
}

// Shape returns the size of each dimension, a copy; empty for a scalar.
func (t *Tensor) Shape() []int { return slices.Clone(t.known("Shape").Shape()) }

// Size returns the size of dimension i; a negative i counts from the end.
func (t *Tensor) Size(i int) int {
	s := t.known("Dim").Shape()
	return s[axis("Dim", s, i)]
}

// NDim returns the number of dimensions.
func (t *Tensor) NDim() int { return len(t.known("Rank").Shape()) }

// Numel returns the number of elements.
func (t *Tensor) Numel() int { return t.known("Len").Len() }

// DType returns the type of the elements.
func (t *Tensor) DType() DType { return t.known("DType").DType() }

// axis turns a negative axis into one that counts from the front.
func axis(op string, shape []int, i int) int {
	if i < 0 {
		i += len(shape)
	}
	if i < 0 || i >= len(shape) {
		panic(&ShapeError{Op: op, Shapes: [][]int{slices.Clone(shape)}, Hint: "the axis is out of range"})
	}
	return i
}

// Release says that the tensor is not used again, so that its value need not
// outlive the ops already recorded and can be fused away. Calling it is never
// necessary, only cheaper: layers and optimisers do it for values that they
// made themselves. Using the tensor afterwards panics with a *StateError.
func (t *Tensor) Release() {
	locked(func(r *ir.Recorder) {
		if t.v != nil {
			r.Release(t.own("Release"))
			t.v = nil
		}
	})
}
