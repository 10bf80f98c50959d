package cuda

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/internal/tensor"
)

// TestProductsByCapability wants wgmma for a product that is large enough on
// capability 9.0, and mma elsewhere; both are right.
func TestProductsByCapability(t *testing.T) {
	const m, n, k = 8, 16, 16384 // deep: its parts fill the device
	a, b := make([]byte, 2*m*k), make([]byte, 2*n*k)
	var want [m][n]float64
	value := func(i, p int) float32 { return float32((i*7+p*3)%13-6) / 8 } // of bfloat16 exactly
	for p := range k {
		for i := range m {
			binary.LittleEndian.PutUint16(a[2*(i*k+p):], tensor.BFloat16Bits(value(i, p)))
		}
		for j := range n {
			binary.LittleEndian.PutUint16(b[2*(j*k+p):], tensor.BFloat16Bits(value(j+5, p)))
			for i := range m {
				want[i][j] += float64(value(i, p)) * float64(value(j+5, p))
			}
		}
	}
	for capability, module := range map[int]string{80: "matmul_bf16", 90: "wgmma_bf16_sm90"} {
		gpu, err := fake.Open(fake.Options{Capability: capability})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open("cuda:0", gpu, 0, Libraries{})
		if err != nil {
			t.Fatal(err)
		}
		var bind []ir.Storage
		for _, data := range [][]byte{a, b, make([]byte, 4*m*n)} {
			s, err := d.Alloc(len(data))
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Write(s, 0, data); err != nil {
				t.Fatal(err)
			}
			bind = append(bind, s)
		}
		x, err := d.Compile(&ir.Program{
			Slots: []ir.Slot{{Kind: ir.External, Bytes: len(a)}, {Kind: ir.External, Bytes: len(b)}, {Kind: ir.Output, Bytes: 4 * m * n}},
			Steps: []ir.Step{{Op: ir.MatMul{},
				In: []ir.Operand{{Slot: 0, DType: ir.BFloat16, Layout: ir.RowMajor([]int{m, k})},
					{Slot: 1, DType: ir.BFloat16, Layout: ir.Layout{Shape: []int{k, n}, Stride: []int{1, k}}}},
				Out: []ir.Operand{{Slot: 2, DType: ir.Float32, Layout: ir.RowMajor([]int{m, n})}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // launched, and as a graph
			if _, err := x.Run(bind, nil); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, 4*m*n)
		if err := d.Read(got, bind[2], 0); err != nil {
			t.Fatal(err)
		}
		if _, ok := d.code.modules[module]; !ok {
			t.Errorf("on capability %d no kernel of %s was used", capability, module)
		}
		for i := range m {
			for j := range n {
				g := float64(math.Float32frombits(binary.LittleEndian.Uint32(got[4*(i*n+j):])))
				if w := want[i][j]; !(math.Abs(g-w) <= 1e-4*math.Max(1, math.Abs(w))) {
					t.Fatalf("on capability %d element %d,%d is %v, want %v", capability, i, j, g, w)
				}
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
