//go:build !race

package cuda

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// TestMatMulByCapabilityOnCUDA expects wgmma for a large matrix multiplication on
// capability 9.0, and mma elsewhere, with equal results.
func TestMatMulByCapabilityOnCUDA(t *testing.T) {
	const count, m, n, k = 64, 8, 8, 64 // enough to fill half of the device
	a, b := make([]byte, 2*count*m*k), make([]byte, 2*count*n*k)
	var want [count][m][n]float64
	value := func(c, i, p int) float32 { return float32((c+i*7+p*3)%13-6) / 8 } // exact in bfloat16
	for c := range count {
		for p := range k {
			for i := range m {
				binary.LittleEndian.PutUint16(a[2*((c*m+i)*k+p):], tensortype.BFloat16Bits(value(c, i, p)))
			}
			for j := range n {
				binary.LittleEndian.PutUint16(b[2*((c*n+j)*k+p):], tensortype.BFloat16Bits(value(c, j+5, p)))
				for i := range m {
					want[c][i][j] += float64(value(c, i, p)) * float64(value(c, j+5, p))
				}
			}
		}
	}
	for capability, module := range map[int]string{80: "matmul_bf16", 90: "wgmma_bf16_sm90"} {
		gpu, err := fake.Open(fake.Options{Capability: capability, Modules: modules})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open("cuda:0", gpu, 0, Libraries{})
		if err != nil {
			t.Fatal(err)
		}
		var bind []ir.Storage
		for _, data := range [][]byte{a, b, make([]byte, 4*count*m*n)} {
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
			Slots: []ir.Slot{{Kind: ir.External, Bytes: len(a)}, {Kind: ir.External, Bytes: len(b)}, {Kind: ir.Output, Bytes: 4 * count * m * n}},
			Steps: []ir.Step{{Op: ir.MatMul{},
				In: []ir.Operand{{Slot: 0, DType: ir.BFloat16, Layout: ir.RowMajor([]int{count, m, k})},
					{Slot: 1, DType: ir.BFloat16, Layout: ir.Layout{Shape: []int{count, k, n}, Stride: []int{n * k, 1, k}}}},
				Out: []ir.Operand{{Slot: 2, DType: ir.Float32, Layout: ir.RowMajor([]int{count, m, n})}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		run(t, x, bind)
		got := make([]byte, 4*count*m*n)
		if err := d.Read(got, bind[2], 0); err != nil {
			t.Fatal(err)
		}
		if _, ok := d.code.modules[module]; !ok {
			t.Errorf("on capability %d no kernel of %s was used", capability, module)
		}
		for i := range count * m * n {
			g := float64(math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])))
			if w := want[i/(m*n)][i/n%m][i%n]; !(math.Abs(g-w) <= 1e-4*math.Max(1, math.Abs(w))) {
				t.Fatalf("on capability %d element %d is %v, want %v", capability, i, g, w)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
