package tensor

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
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

// scratch collects intermediate tensors, which are released when an op that consists of others has been recorded.
type scratch []*Tensor

func (s *scratch) keep(t *Tensor) *Tensor {
	*s = append(*s, t)
	return t
}

// release releases all of them but results.
func (s *scratch) release(results ...*Tensor) {
	for _, t := range *s {
		if !slices.Contains(results, t) {
			t.Release()
		}
	}
}

// Item returns the only element of a tensor. It runs the recorded ops.
func (t *Tensor) Item() float64 {
	if n := t.Numel(); n != 1 {
		panic(&ShapeError{Op: "Item", Shapes: [][]int{t.Shape()}, Hint: "the tensor must have a single element"})
	}
	return read[float64](t, "Item")[0]
}

// Data returns a copy of the elements in row-major order, converted to float32. It runs the
// recorded ops.
func (t *Tensor) Data() []float32 { return read[float32](t, "Data") }

// Float64s returns a copy of the elements in row-major order, converted to float64.
func (t *Tensor) Float64s() []float64 { return read[float64](t, "Float64s") }

// Ints returns a copy of the elements in row-major order, converted to int by truncation.
func (t *Tensor) Ints() []int { return read[int](t, "Ints") }

func read[T float32 | float64 | int](t *Tensor, op string) []T {
	var raw []byte
	var d DType
	locked(func(r *ir.Recorder) {
		v := t.value(op)
		raw, d = r.Download(op, v), v.DType()
	})
	switch d {
	case Float32:
		data := as[float32](raw)
		if same, ok := any(data).([]T); ok {
			return same // raw is already a copy
		}
		return convert[T](data)
	case Float64:
		return convert[T](as[float64](raw))
	case Int32:
		return convert[T](as[int32](raw))
	case Int64:
		return convert[T](as[int64](raw))
	case Float16, BFloat16:
		floats := make([]float32, len(raw)/2)
		for i, b := range as[uint16](raw) {
			if d == Float16 {
				floats[i] = tensortype.Float16Value(b)
			} else {
				floats[i] = tensortype.BFloat16Value(b)
			}
		}
		return convert[T](floats)
	default:
		return convert[T](raw)
	}
}

func as[T element](raw []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(unsafe.Sizeof(zero)))
}

// Of a long dimension String prints the first and last printEdge elements.
const (
	printEdge  = 3
	printWhole = 1000 // tensors with more elements are abbreviated
)

// String returns element type, shape and elements; a large tensor is abbreviated. It runs the
// recorded ops.
func (t *Tensor) String() string {
	if t == nil || t.v == nil {
		return "tensor(released)"
	}
	shape, d, data := t.Shape(), t.DType(), t.Float64s()
	p := printer{data: data, float: d.IsFloat(), bits: max(32, d.Size()*8), abbreviate: len(data) > printWhole || len(shape) > 0 && slices.Max(shape) > printWhole}
	head := fmt.Sprintf("%s%s", d, strings.ReplaceAll(ir.FormatShape(shape), " ", "×"))
	if len(shape) == 0 {
		return head + " " + p.element(0)
	}
	p.dimension(shape, 0, 1)
	sep := " "
	if len(shape) > 1 {
		sep = "\n"
	}
	return head + sep + p.String()
}

type printer struct {
	strings.Builder
	data       []float64
	float      bool
	bits       int
	abbreviate bool
}

func (p *printer) element(i int) string {
	if !p.float {
		return strconv.Itoa(int(p.data[i]))
	}
	return strconv.FormatFloat(p.data[i], 'g', 5, p.bits)
}

func (p *printer) dimension(shape []int, at, depth int) {
	p.WriteByte('[')
	step := ir.Len(shape[1:])
	for i := 0; i < shape[0]; i++ {
		if i > 0 && len(shape) == 1 {
			p.WriteString(" ")
		} else if i > 0 {
			p.WriteString("\n" + strings.Repeat(" ", depth))
		}
		if p.abbreviate && i == printEdge && shape[0] > 2*printEdge {
			p.WriteString("… ")
			i = shape[0] - printEdge
		}
		if len(shape) == 1 {
			p.WriteString(p.element(at + i))
		} else {
			p.dimension(shape[1:], at+i*step, depth+1)
		}
	}
	p.WriteByte(']')
}

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
