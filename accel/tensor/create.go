package tensor

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// New makes a float32 tensor from a copy of data in row-major order. It panics with a *ShapeError
// if the shape does not have len(data) elements.
func New(data []float32, shape ...int) *Tensor {
	return fromHost("New", data, Float32, shape)
}

// FromFloat64s makes a float64 tensor from a copy of data in row-major order. It panics with a
// *ShapeError if the shape does not have len(data) elements.
func FromFloat64s(data []float64, shape ...int) *Tensor {
	return fromHost("FromFloat64s", data, Float64, shape)
}

// FromInts makes an int32 tensor from a copy of data, such as labels or indices. It panics with a
// *DTypeError if a value does not fit into 32 bits.
func FromInts(data []int, shape ...int) *Tensor {
	narrow := make([]int32, len(data))
	for i, v := range data {
		narrow[i] = int32(v)
		if int(narrow[i]) != v {
			panic(&DTypeError{Op: "FromInts", Hint: fmt.Sprintf("%d does not fit into 32 bits", v)})
		}
	}
	return fromHost("FromInts", narrow, Int32, shape)
}

// FromBytes makes a uint8 tensor from a copy of data, such as images.
func FromBytes(data []uint8, shape ...int) *Tensor {
	return fromHost("FromBytes", data, Uint8, shape)
}

// Zeros makes a float32 tensor of zeros.
func Zeros(shape ...int) *Tensor { return Full(0, shape...) }

// Ones makes a float32 tensor of ones.
func Ones(shape ...int) *Tensor { return Full(1, shape...) }

// Full makes a float32 tensor filled with one value.
func Full(value float64, shape ...int) *Tensor {
	data := hostBuffer[float32]("Full", Float32, shape)
	if value != 0 {
		for i := range data {
			data[i] = float32(value)
		}
	}
	return fromHost("Full", data, Float32, shape)
}

// Arange makes a tensor of element type d with start, start + step, start + 2·step and so on, up to
// and without end: Arange(0, 3, 1, Int32) is [0 1 2], and Arange(1, 0, -0.25, Float32) is
// [1 0.75 0.5 0.25]. The number of elements is ⌈(end - start)/step⌉. An integer type needs a whole
// start and step, and elements that fit into it.
func Arange(start, end, step float64, d DType) *Tensor {
	n := math.Ceil((end - start) / step)
	if !(n >= 0) || math.IsInf(start, 0) || math.IsInf(step, 0) || step == 0 {
		panic(&ShapeError{Op: "Arange", Hint: fmt.Sprintf("steps of %v do not lead from %v to %v", step, start, end)})
	}
	if n > math.MaxInt>>3 {
		panic(&ShapeError{Op: "Arange", Hint: fmt.Sprintf("%v elements are too many", n)})
	}
	if !d.Known() || d == Bool {
		panic(&DTypeError{Op: "Arange", DTypes: []DType{d}, Hint: "the element type must be a float or an integer"})
	}
	limits, integer := map[DType][2]float64{Int32: {math.MinInt32, math.MaxInt32}, Int64: {-1 << 53, 1 << 53}, Uint8: {0, math.MaxUint8}}[d]
	if last := start + (n-1)*step; integer && n > 0 && (start != math.Trunc(start) || step != math.Trunc(step) || min(start, last) < limits[0] || max(start, last) > limits[1]) {
		panic(&DTypeError{Op: "Arange", DTypes: []DType{d}, Hint: fmt.Sprintf("start %v, step %v and the last element %v must be in the type", start, step, last)})
	}
	return counted(int(n), d, func(i int) float64 { return start + float64(i)*step })
}

// counted makes a tensor of n numbers.
func counted(n int, d DType, number func(i int) float64) (t *Tensor) {
	locked(func(r *ir.Recorder) { r.CheckLimit(n * 8) })
	data := make([]float64, n)
	for i := range data {
		data[i] = number(i)
	}
	locked(func(r *ir.Recorder) { t = wrap(r.Upload(ir.Type{Shape: []int{n}, DType: d}, encode(data, d))) })
	return t
}

// Linspace makes a tensor of element type d, a float, with n numbers at equal distances, the first from and the last
// to: Linspace(0, 1, 5, Float32) is [0 0.25 0.5 0.75 1]. One number is from.
func Linspace(from, to float64, n int, d DType) *Tensor {
	if from-from != 0 || to-to != 0 {
		panic(&ShapeError{Op: "Linspace", Hint: fmt.Sprintf("no numbers are at equal distances from %v to %v", from, to)})
	}
	if n < 0 || n > math.MaxInt>>3 {
		panic(&ShapeError{Op: "Linspace", Hint: fmt.Sprintf("there cannot be %d numbers", n)})
	}
	if !d.Known() || !d.IsFloat() {
		panic(&DTypeError{Op: "Linspace", DTypes: []DType{d}, Hint: "the element type must be a float"})
	}
	last := float64(max(n-1, 1))
	step := to/last - from/last // to - from may overflow
	return counted(n, d, func(i int) float64 {
		if i < n-i { // from the nearer end, so that both are exact
			return from + float64(i)*step
		}
		return to - float64(n-1-i)*step
	})
}

// Eye makes the float32 identity matrix [n, n]: 1 on the diagonal, else 0.
func Eye(n int) *Tensor {
	shape := []int{n, n}
	data := hostBuffer[float32]("Eye", Float32, shape)
	for i := 0; i < len(data); i += n + 1 {
		data[i] = 1
	}
	return fromHost("Eye", data, Float32, shape)
}

// Randn makes a float32 tensor with values from the standard normal distribution. A nil generator
// means the default one.
func Randn(g *Generator, shape ...int) *Tensor {
	data := hostBuffer[float32]("Randn", Float32, shape)
	g.orDefault().fillNormal(data)
	return fromHost("Randn", data, Float32, shape)
}

// Uniform makes a float32 tensor with values from the uniform distribution over [low, high). A nil
// generator means the default one.
func Uniform(g *Generator, low, high float64, shape ...int) *Tensor {
	data := hostBuffer[float32]("Uniform", Float32, shape)
	g.orDefault().fillUniform(data, low, high)
	return fromHost("Uniform", data, Float32, shape)
}

// RandInt makes an int32 tensor with integers from the uniform distribution over low..high-1. A nil generator
// means the default one.
func RandInt(g *Generator, low, high int, shape ...int) *Tensor {
	if low >= high {
		panic(&ShapeError{Op: "RandInt", Hint: fmt.Sprintf("there is no integer from %d to below %d", low, high)})
	}
	if low < math.MinInt32 || high-1 > math.MaxInt32 {
		panic(&DTypeError{Op: "RandInt", DTypes: []DType{Int32}, Hint: fmt.Sprintf("the range from %d to below %d does not fit into 32 bits", low, high)})
	}
	data := hostBuffer[int32]("RandInt", Int32, shape)
	g.orDefault().fillInts(data, low, high)
	return fromHost("RandInt", data, Int32, shape)
}

// RandPerm makes a random permutation of 0..n-1, int32 [n]. A nil generator means the default one.
func RandPerm(g *Generator, n int) *Tensor {
	if n > math.MaxInt32 {
		panic(&DTypeError{Op: "RandPerm", DTypes: []DType{Int32}, Hint: fmt.Sprintf("the numbers below %d do not fit into 32 bits", n)})
	}
	data := hostBuffer[int32]("RandPerm", Int32, []int{n})
	for i, v := range g.orDefault().Perm(n) {
		data[i] = int32(v)
	}
	return fromHost("RandPerm", data, Int32, []int{n})
}

// checkShape panics with a *ShapeError if no tensor can have the shape.
func checkShape(op string, shape []int) {
	for _, d := range shape {
		if d < 0 {
			panic(&ShapeError{Op: op, Hint: fmt.Sprintf("%s: a dimension cannot be negative", ir.FormatShape(shape))})
		}
	}
	if !ir.Countable(shape) {
		panic(&ShapeError{Op: op, Hint: fmt.Sprintf("%s: the number of elements exceeds the range of int", ir.FormatShape(shape))})
	}
}

// hostBuffer allocates host memory for the elements of a new tensor. It panics if the shape is invalid or the
// memory limit would be exceeded.
func hostBuffer[T element](op string, d DType, shape []int) []T {
	checkShape(op, shape)
	n := ir.Len(shape)
	locked(func(r *ir.Recorder) { r.CheckLimit(n * d.Size()) })
	return make([]T, n)
}

type element interface {
	float32 | float64 | int32 | int64 | uint8 | uint16
}

func fromHost[T element](op string, data []T, d DType, shape []int) *Tensor {
	checkShape(op, shape)
	if ir.Len(shape) != len(data) {
		panic(&ShapeError{Op: op, Shapes: [][]int{append([]int{}, shape...)}, Hint: fmt.Sprintf("the shape has %d elements, data has %d", ir.Len(shape), len(data))})
	}
	var t *Tensor
	locked(func(r *ir.Recorder) {
		t = wrap(r.Upload(ir.Type{Shape: shape, DType: d}, bytesOf(data)))
	})
	return t
}

// bytesOf returns the memory of a slice as bytes, without a copy.
func bytesOf[T element](data []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(zero)))
}

// SetData replaces the tensor's elements by a copy of data, which must have as many; they are
// converted if the tensor is not float32. Ops recorded before see the old elements. Use SetData for
// an input buffer, or for a number that changes each step: the plan stays the same.
func (t *Tensor) SetData(data []float32) { overwrite(t, "SetData", data) }

// SetInts is SetData for integers, such as labels.
func (t *Tensor) SetInts(data []int) { overwrite(t, "SetInts", data) }

// SetBytes is SetData for bytes, such as images.
func (t *Tensor) SetBytes(data []uint8) { overwrite(t, "SetBytes", data) }

func overwrite[T float32 | int | uint8](t *Tensor, op string, data []T) {
	locked(func(r *ir.Recorder) {
		v := t.holdValue(op)
		if v.Len() != len(data) {
			panic(&ShapeError{Op: op, Shapes: [][]int{slices.Clone(v.Shape())}, Hint: fmt.Sprintf("the tensor has %d elements, data has %d", v.Len(), len(data))})
		}
		t.v = r.Overwrite(v, encode(data, v.DType()))
	})
}

// encode converts host values to the bytes of an element type.
func encode[T float32 | float64 | int | uint8](data []T, d DType) []byte {
	switch d {
	case Float32:
		if f, ok := any(data).([]float32); ok {
			return bytesOf(f)
		}
		return bytesOf(convert[float32](data))
	case Float64:
		return bytesOf(convert[float64](data))
	case Int32:
		return bytesOf(convert[int32](data))
	case Int64:
		return bytesOf(convert[int64](data))
	case Float16, BFloat16:
		out := make([]uint16, len(data))
		for i, v := range data {
			if d == Float16 {
				out[i] = tensortype.Float16Bits(float32(v))
			} else {
				out[i] = tensortype.BFloat16Bits(float32(v))
			}
		}
		return bytesOf(out)
	case Bool:
		out := make([]uint8, len(data))
		for i, v := range data {
			if v != 0 {
				out[i] = 1
			}
		}
		return out
	default:
		if b, ok := any(data).([]uint8); ok {
			return b
		}
		return bytesOf(convert[uint8](data))
	}
}

func convert[D, S element | int](data []S) []D {
	out := make([]D, len(data))
	for i, v := range data {
		out[i] = D(v)
	}
	return out
}
