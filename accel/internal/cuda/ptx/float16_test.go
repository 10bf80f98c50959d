package ptx

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// A cast to 16 bits within a fused kernel rounds as the host does, bit for bit; later ops use
// the rounded value; and 16-bit floats are read and written in order.
func TestRoundsTo16Bits(t *testing.T) {
	t.Parallel()
	for _, d := range []ir.DType{ir.BFloat16, ir.Float16} {
		bitsOf, valueOf := tensortype.BFloat16Bits, tensortype.BFloat16Value
		if d == ir.Float16 {
			bitsOf, valueOf = tensortype.Float16Bits, tensortype.Float16Value
		}
		for _, offset := range []int{0, 3, 4, 8} { // of the 16-bit input: read eight at a time, or one by one
			x := numbers(rand.New(rand.NewPCG(9, 9)), 1003)
			n := len(x)
			var addend []byte
			for range offset {
				addend = append(addend, 0xff, 0xff)
			}
			for i := range n {
				addend = binary.LittleEndian.AppendUint16(addend, bitsOf(float32(i%37)/8))
			}
			// z = float16(x); y = z + a; r = float16(y)
			flat := ir.RowMajor([]int{n})
			step := ir.Step{
				Shape: []int{n},
				In:    []ir.Operand{{Slot: 0, DType: ir.Float32, Layout: flat}, {Slot: 1, DType: d, Layout: ir.Layout{Shape: []int{n}, Stride: []int{1}, Offset: offset}}},
				Loop: []ir.Instr{{Op: ir.Cast{To: d}, Args: []int{0}, Out: 0}, {Op: ir.Cast{To: ir.Float32}, Args: []int{2}, Out: -1},
					{Op: ir.Add{}, Args: []int{3, 1}, Out: 1}, {Op: ir.Cast{To: d}, Args: []int{4}, Out: 2}},
				Out: []ir.Operand{{Slot: 2, DType: d, Layout: flat}, {Slot: 3, DType: ir.Float32, Layout: flat}, {Slot: 4, DType: d, Layout: flat}},
			}
			l, err := New(step, 0)
			if err != nil {
				t.Fatal(err)
			}
			m := newMachine(t)
			at := []driver.Pointer{m.put(singles(x)), m.put(addend), m.put(make([]byte, 2*n)), m.put(make([]byte, 4*n)), m.put(make([]byte, 2*n))}
			m.run(l.PTX, l.Launch(func(o ir.Operand) driver.Pointer { return at[o.Slot] + driver.Pointer(o.Offset*o.DType.Size()) }, 0, nil))
			z, y, r := make([]byte, 2*n), make([]byte, 4*n), make([]byte, 2*n)
			for k, b := range [][]byte{z, y, r} {
				if err := m.memory.Read(b, uint64(at[2+k])); err != nil {
					t.Fatal(err)
				}
			}
			for i, v := range x {
				rounded := bitsOf(float32(v))
				sum := valueOf(rounded) + float32(i%37)/8
				if got := binary.LittleEndian.Uint16(z[2*i:]); got != rounded {
					t.Fatalf("%v, offset %d: %v (%#x) becomes %#x, want %#x", d, offset, v, math.Float32bits(float32(v)), got, rounded)
				}
				got := math.Float32frombits(binary.LittleEndian.Uint32(y[4*i:]))
				if got != sum && !(got != got && sum != sum) {
					t.Fatalf("%v, offset %d: %v and %v/8 are %v, want %v", d, offset, v, i%37, got, sum)
				}
				if want, got := bitsOf(sum), binary.LittleEndian.Uint16(r[2*i:]); got != want && sum == sum {
					t.Fatalf("%v, offset %d: %v becomes %#x, want %#x", d, offset, sum, got, want)
				}
			}
		}
	}
}
