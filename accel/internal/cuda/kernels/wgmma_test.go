package kernels

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
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
		t.Error("an address of 8 bytes fits")
	}
}

func TestHopperMaps(t *testing.T) {
	o := HopperMatMul{TensorMatMul{MatMul: MatMul{DType: ir.BFloat16, A: rowMajor(300, 72), B: rowMajor(72, 1000)}}}
	launches, err := o.Launches(0, 1024, 2048, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := launches[0]
	if l.Grid != (driver.Dim{X: 3 * 4, Y: 1, Z: 1}) || l.Entry != "wgmma_tn_bf16_sm90" || len(l.Maps) != 2 {
		t.Fatalf("%s of %v blocks with %d maps", l.Entry, l.Grid, len(l.Maps))
	}
	a, b := l.Maps[0].Tensor, l.Maps[1].Tensor
	if a.Shape[0] != 72 || a.Shape[1] != 300 || a.Strides[0] != 144 || a.Box[1] != 128 || a.Address != 1024 {
		t.Errorf("the first factor's map is %+v", a)
	}
	if b.Shape[0] != 1000 || b.Shape[1] != 72 || b.Strides[0] != 2000 || b.Box[1] != 64 || b.Address != 2048 {
		t.Errorf("the second factor's map is %+v", b)
	}
}
