package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func TestHopperMatMulFits(t *testing.T) {
	fits := func(d ir.DType, a, b ir.Layout) bool {
		return HopperMatMul{TensorMatMul{MatMul: MatMul{DType: d, A: a, B: b}}}.Fits(256, 512)
	}
	for _, p := range []struct {
		name string
		d    ir.DType
		a, b ir.Layout
		want bool
	}{
		{"ordinary", ir.BFloat16, rowMajor(40, 64), rowMajor(64, 24), true},
		{"turned", ir.Float16, swapped(40, 64), swapped(64, 24), true},
		{"a batch", ir.BFloat16, rowMajor(3, 40, 64), rowMajor(3, 64, 24), true},
		{"a batch of two dimensions", ir.BFloat16, rowMajor(3, 1, 40, 64).BroadcastTo([]int{3, 5, 40, 64}), rowMajor(5, 64, 24).BroadcastTo([]int{3, 5, 64, 24}), false},
		{"odd rows", ir.BFloat16, rowMajor(40, 63), rowMajor(63, 24), false},
		{"float32", ir.Float32, rowMajor(40, 64), rowMajor(64, 24), false},
		{"no depth", ir.BFloat16, rowMajor(40, 0), rowMajor(0, 24), false},
	} {
		if got := fits(p.d, p.a, p.b); got != p.want {
			t.Errorf("%s: %v, want %v", p.name, got, p.want)
		}
	}
	if (HopperMatMul{TensorMatMul{MatMul: MatMul{DType: ir.BFloat16, A: rowMajor(8, 64), B: rowMajor(64, 8)}}}).Fits(264, 512) {
		t.Error("an address that is a multiple of 8 bytes only fits")
	}
}

// hopperCases are sizes that fit, with partial panels, tiles and rings of stages, all
// memory orders of the operands, and batches.
func hopperCases() []matmulCase {
	var out []matmulCase
	for i, s := range [][3]int{{40, 24, 8}, {136, 264, 72}, {8, 16, 640}} {
		m, n, k := s[0], s[1], s[2]
		for order, f := range [][2]ir.Layout{{rowMajor(m, k), swapped(k, n)}, {swapped(m, k), rowMajor(k, n)}, {rowMajor(m, k), rowMajor(k, n)}, {swapped(m, k), swapped(k, n)}} {
			out = append(out, matmulCase{fmt.Sprint(s, order), f[0], f[1], (i+order)%2 == 0, (i+order)%3 == 0})
		}
	}
	return append(out,
		matmulCase{"rows of the result that are not aligned", rowMajor(40, 24), swapped(24, 21), true, true},
		matmulCase{"rows of the result that are not aligned, of 16 bits", rowMajor(40, 24), swapped(24, 21), true, false},
		matmulCase{"batch", rowMajor(3, 16, 24), rowMajor(3, 24, 16), true, false},
		matmulCase{"all for one", rowMajor(8, 24).BroadcastTo([]int{3, 8, 24}), rowMajor(3, 24, 16), false, false})
}

func TestHopperMatMul(t *testing.T) {
	for _, d := range []ir.DType{ir.BFloat16, ir.Float16} {
		for i, p := range some(hopperCases()) {
			t.Run(fmt.Sprint(d, " ", p.name), func(t *testing.T) {
				r := generator(24)
				output16 := i%2 == 1
				m, a, b := newTestGPU(t), numbers(r, d, p.a), numbers(r, d, p.b)
				to := ir.Float32
				if output16 {
					to = d
				}
				bias := random(r, to, p.b.Shape[len(p.b.Shape)-1])
				want := p.want(t, a, b, bias)
				o := HopperMatMul{TensorMatMul{MatMul{DType: d, A: p.a, B: p.b, Bias: p.bias, ReLU: p.relu}, output16}}
				y := m.alloc(len(want.data) * to.Size())
				launches, err := o.Launches(Addresses{In: []Pointer{m.put(a), m.put(b), m.put(bias)}, Out: []Pointer{y}, Work: m.alloc(o.Workspace())})
				if err != nil {
					t.Fatal(err)
				}
				m.run(launches)
				tolerance := 2e-6 * math.Sqrt(float64(p.a.Shape[len(p.a.Shape)-1]+1))
				if output16 {
					tolerance += 1.0 / 256
				}
				compareArrays(t, m.get(y, to, want.shape), want, tolerance)
			})
		}
	}
}

// TestHopperStoreInstructions counts what an element of the result takes beside the multiply-adds: it is written 16 bytes at
// a time.
func TestHopperStoreInstructions(t *testing.T) {
	for _, row := range []struct {
		name     string
		output16 bool
		most     float64
	}{{"float32", false, 22}, {"bfloat16", true, 20}} {
		const side = 256
		m, a := newTestGPU(t), rowMajor(side, 64)
		o := HopperMatMul{TensorMatMul{MatMul{DType: ir.BFloat16, A: a, B: swapped(64, side)}, row.output16}}
		x := m.put(newArray(ir.BFloat16, side, 64))
		launches, err := o.Launches(Addresses{In: []Pointer{x, x}, Out: []Pointer{m.alloc(side * side * 4)}, Work: m.alloc(o.Workspace())})
		if err != nil {
			t.Fatal(err)
		}
		m.run(launches)
		if got := 32 * float64(m.steps) / (side * side); got > row.most { // a real GPU counts none
			t.Errorf("%s: %.4g instructions for each element, at most %g are needed", row.name, got, row.most)
		}
	}
}

func TestHopperMaps(t *testing.T) {
	o := HopperMatMul{TensorMatMul{MatMul: MatMul{DType: ir.BFloat16, A: rowMajor(300, 72), B: rowMajor(72, 1000)}}}
	launches, err := o.Launches(Addresses{In: []Pointer{1024, 2048}, Out: []Pointer{0}})
	if err != nil {
		t.Fatal(err)
	}
	l := launches[0]
	if l.Grid != (driver.Dim{X: 3 * 4, Y: 1, Z: 1}) || l.Entry != "wgmma_tn_bf16_sm90" || len(l.Maps) != 2 {
		t.Fatalf("%s of %v blocks with %d maps", l.Entry, l.Grid, len(l.Maps))
	}
	a, b := l.Maps[0].Tensor, l.Maps[1].Tensor
	if a.Shape[0] != 72 || a.Shape[1] != 300 || a.Strides[0] != 144 || a.Box[1] != 128 || a.Address != 1024 {
		t.Errorf("the first operand's map is %+v", a)
	}
	if b.Shape[0] != 1000 || b.Shape[1] != 72 || b.Strides[0] != 2000 || b.Box[1] != 64 || b.Address != 2048 {
		t.Errorf("the second operand's map is %+v", b)
	}
}
