package tensor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

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
