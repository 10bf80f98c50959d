package cpu

import (
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// castTo reads len(dst) elements of type d of a strided tensor, in row-major order from
// element at, converted to the type of dst.
func castTo[D number](dst []D, base unsafe.Pointer, d ir.DType, l ir.Layout, at int) {
	switch d {
	case ir.Float32:
		gatherAs[float32](dst, base, l, at)
	case ir.Float64:
		gatherAs[float64](dst, base, l, at)
	case ir.Int32:
		gatherAs[int32](dst, base, l, at)
	case ir.Int64:
		gatherAs[int64](dst, base, l, at)
	case ir.Float16, ir.BFloat16:
		gatherFloat16(dst, base, d, l, at)
	default:
		gatherAs[uint8](dst, base, l, at)
	}
}

type number interface {
	float32 | float64 | int32 | int64 | uint8 | uint16
}

// gatherAs iterates over rows of the innermost dimension.
func gatherAs[T number, D number](dst []D, base unsafe.Pointer, l ir.Layout, at int) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	inner := len(l.Shape) - 1
	width, stride := 1, 0
	if inner >= 0 {
		width, stride = l.Shape[inner], l.Stride[inner]
	}
	w := newWalker(l, inner, at/width)
	for col := at % width; len(dst) > 0; col = 0 {
		n := min(len(dst), width-col)
		offset := w.offset
		p := unsafe.Add(base, (offset+col*stride)*size)
		out := dst[:n]
		switch stride {
		case 0:
			v := D(*(*T)(p))
			for i := range out {
				out[i] = v
			}
		case 1:
			from := unsafe.Slice((*T)(p), n)
			if same, ok := any(out).([]T); ok {
				copy(same, from)
				break
			}
			for i, v := range from {
				out[i] = D(v)
			}
		default:
			for i := range out {
				out[i] = D(*(*T)(unsafe.Add(p, i*stride*size)))
			}
		}
		dst = dst[n:]
		w.next()
	}
}

// walker iterates over the rows of a layout: over all dimensions except the inner ones.
type walker struct {
	l      ir.Layout
	outer  int
	index  [8]int // index of the row in the last eight of the outer dimensions
	offset int
	row    int
}

func newWalker(l ir.Layout, outer, row int) walker {
	w := walker{l: l, outer: max(outer, 0), row: row}
	w.seek()
	return w
}

// seek computes the offset of the row from its index.
func (w *walker) seek() {
	w.offset = w.l.Offset
	row := w.row
	for k := w.outer - 1; k >= 0; k-- {
		i := row % w.l.Shape[k]
		row /= w.l.Shape[k]
		w.offset += i * w.l.Stride[k]
		if d := w.outer - 1 - k; d < len(w.index) {
			w.index[d] = i
		}
	}
}

// next advances to the next row.
func (w *walker) next() {
	w.row++
	for d := range min(w.outer, len(w.index)) {
		k := w.outer - 1 - d
		w.offset += w.l.Stride[k]
		if w.index[d]++; w.index[d] < w.l.Shape[k] {
			return
		}
		w.offset -= w.l.Shape[k] * w.l.Stride[k]
		w.index[d] = 0
	}
	if w.outer > len(w.index) {
		w.seek()
	}
}
