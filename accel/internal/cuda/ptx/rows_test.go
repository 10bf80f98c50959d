package ptx

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// Elements of operands with strides, wherever those are that a thread processes at once.
func TestRows(t *testing.T) {
	t.Parallel()
	layout := func(shape, stride []int, offset int) ir.Layout {
		return ir.Layout{Shape: shape, Stride: stride, Offset: offset}
	}
	for _, row := range []struct {
		name   string
		layout ir.Layout
		want   map[ir.DType]inRow // by type; the others are as float32
	}{
		{"bias of a row", layout([]int{5, 24}, []int{0, 1}, 0), map[ir.DType]inRow{ir.Float32: adjacent}},
		{"bias behind others", layout([]int{5, 24}, []int{0, 1}, 16), map[ir.DType]inRow{ir.Float32: adjacent}},
		{"bias that is not aligned for 16 bits", layout([]int{5, 24}, []int{0, 1}, 4), map[ir.DType]inRow{ir.Float32: adjacent, ir.BFloat16: spread, ir.Float16: spread}},
		{"bias that is not aligned", layout([]int{5, 24}, []int{0, 1}, 3), map[ir.DType]inRow{ir.Float32: spread}},
		{"bias of an odd row", layout([]int{24, 5}, []int{0, 1}, 0), map[ir.DType]inRow{ir.Float32: apart}},
		{"column", layout([]int{5, 24}, []int{1, 0}, 0), map[ir.DType]inRow{ir.Float32: same}},
		{"column behind others", layout([]int{5, 24}, []int{1, 0}, 3), map[ir.DType]inRow{ir.Float32: same}},
		{"column of odd rows", layout([]int{24, 5}, []int{1, 0}, 0), map[ir.DType]inRow{ir.Float32: apart}},
		{"part of a row", layout([]int{5, 16}, []int{32, 1}, 8), map[ir.DType]inRow{ir.Float32: adjacent}},
		{"part of an odd row", layout([]int{5, 16}, []int{33, 1}, 8), map[ir.DType]inRow{ir.Float32: spread}},
		{"transposed", layout([]int{16, 24}, []int{1, 16}, 0), map[ir.DType]inRow{ir.Float32: spread}},
		{"reversed", layout([]int{3, 16}, []int{16, -1}, 15), map[ir.DType]inRow{ir.Float32: spread}},
		{"heads", layout([]int{2, 3, 4, 16}, []int{192, 16, 48, 1}, 0), map[ir.DType]inRow{ir.Float32: adjacent}},
		{"one row", layout([]int{16}, []int{2}, 1), map[ir.DType]inRow{ir.Float32: spread}},
	} {
		for _, d := range []ir.DType{ir.Float32, ir.BFloat16, ir.Float16, ir.Int32, ir.Int64, ir.Bool, ir.Float64} {
			for _, to := range []ir.DType{ir.Float32, ir.BFloat16} {
				n := ir.Len(row.layout.Shape)
				step := ir.Step{
					Shape: row.layout.Shape,
					In:    []ir.Operand{{Slot: 0, DType: d, Layout: row.layout}},
					Loop:  []ir.Instr{{Op: ir.Neg{}, Args: []int{0}, Out: 0}},
					Out:   []ir.Operand{{Slot: 1, DType: to, Layout: ir.RowMajor(row.layout.Shape)}},
				}
				k, err := New(step, 0)
				if err != nil {
					t.Fatal(err)
				}
				if want, ok := row.want[d]; ok && k.inputs[0].row != want {
					t.Errorf("%s, %v to %v: got row %d, want %d", row.name, d, to, k.inputs[0].row, want)
				}
				value := func(i int) float32 {
					if d == ir.Bool {
						return float32(i % 2)
					}
					return float32(i % 101)
				}
				var x []byte
				for i := range 1000 {
					x = appendNumber(x, d, value(i))
				}
				m := newMachine(t)
				at := []driver.Pointer{m.put(x), m.put(make([]byte, n*to.Size()))}
				m.run(k.PTX, k.Launch(func(o ir.Operand) driver.Pointer { return at[o.Slot] + driver.Pointer(o.Offset*o.DType.Size()) }, 0, nil))
				y := make([]byte, n*to.Size())
				if err := m.memory.Read(y, uint64(at[1])); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					from, rest := row.layout.Offset, i
					for j := len(row.layout.Shape) - 1; j >= 0; j-- {
						from += rest % row.layout.Shape[j] * row.layout.Stride[j]
						rest /= row.layout.Shape[j]
					}
					got := tensortype.BFloat16Value(binary.LittleEndian.Uint16(y[2*i:]))
					if to == ir.Float32 {
						got = math.Float32frombits(binary.LittleEndian.Uint32(y[4*i:]))
					}
					if got != -value(from) {
						t.Fatalf("%s, %v to %v: element %d is %v, want %v", row.name, d, to, i, got, -value(from))
					}
				}
			}
		}
	}
}

func appendNumber(b []byte, d ir.DType, v float32) []byte {
	switch d {
	case ir.Float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	case ir.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(v)))
	case ir.Float16:
		return binary.LittleEndian.AppendUint16(b, tensortype.Float16Bits(v))
	case ir.BFloat16:
		return binary.LittleEndian.AppendUint16(b, tensortype.BFloat16Bits(v))
	case ir.Int32:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	case ir.Int64:
		return binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return append(b, byte(v))
}

// The PTX instructions of a sum, for each element: loads, stores, and the divisions of a strided
// operand serve as many elements as a thread processes at once.
func TestInstructions(t *testing.T) {
	t.Parallel()
	shape := []int{64, 768}
	n := ir.Len(shape)
	for _, row := range []struct {
		dtype  ir.DType
		stride []int // of the second operand
		most   float64
	}{
		{ir.Float32, []int{768, 1}, 9.25},
		{ir.Float32, []int{0, 1}, 12},
		{ir.Float32, []int{1, 0}, 12},
		{ir.BFloat16, []int{768, 1}, 12.7},
		{ir.BFloat16, []int{0, 1}, 14},
		{ir.BFloat16, []int{1, 0}, 12.4},
		{ir.Float16, []int{768, 1}, 16.7},
		{ir.Float16, []int{0, 1}, 18},
	} {
		step := ir.Step{
			Shape: shape,
			In:    []ir.Operand{{Slot: 0, DType: row.dtype, Layout: ir.RowMajor(shape)}, {Slot: 1, DType: row.dtype, Layout: ir.Layout{Shape: shape, Stride: row.stride}}},
			Loop:  []ir.Instr{{Op: ir.Add{}, Args: []int{0, 1}, Out: 0}},
			Out:   []ir.Operand{{Slot: 2, DType: row.dtype, Layout: ir.RowMajor(shape)}},
		}
		k, err := New(step, 0)
		if err != nil {
			t.Fatal(err)
		}
		m := newMachine(t)
		at := []driver.Pointer{m.put(make([]byte, 4*n)), m.put(make([]byte, 4*n)), m.put(make([]byte, 4*n))}
		steps := m.run(k.PTX, k.Launch(func(o ir.Operand) driver.Pointer { return at[o.Slot] }, 0, nil))
		if got := float64(32*steps) / float64(n); got > row.most {
			t.Errorf("%v with strides %v: %.4g instructions for each element, at most %g are needed", row.dtype, row.stride, got, row.most)
		}
	}
}
