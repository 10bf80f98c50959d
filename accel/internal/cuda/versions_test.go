package cuda

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Kernels that need a later PTX version than the driver supports, or another GPU, must not be
// selected.
func TestKernelsByVersion(t *testing.T) {
	t.Parallel()
	matrix := func(slot int) ir.Operand {
		return ir.Operand{Slot: slot, DType: ir.BFloat16, Layout: ir.RowMajor([]int{4096, 4096})}
	}
	size := 2 * 4096 * 4096
	large := &ir.Program{
		Slots: []ir.Slot{{Kind: ir.External, Bytes: size}, {Kind: ir.External, Bytes: size}, {Kind: ir.Output, Bytes: size}},
		Steps: []ir.Step{{Op: ir.MatMul{}, In: []ir.Operand{matrix(0), matrix(1)}, Out: []ir.Operand{matrix(2)}}},
	}
	for _, row := range []struct {
		name                string
		capability, version int
		hopper              bool
		fp8Unavailable      string // why FP8 matmul is not available, empty if it is
	}{
		{"Ampere", 80, 13000, false, "need 8.9"},
		{"Ada", 89, 12040, false, ""},
		{"Ada with an old driver", 89, 12020, false, "CUDA 12.2, and 8-bit floats need 12.4"},
		{"Hopper", 90, 12040, true, ""},
		{"Hopper with a driver of CUDA 12.0", 90, 12000, true, "need 12.4"},
		{"Hopper with the oldest driver", 90, 11080, false, "need 12.4"},
		{"Blackwell", 100, 12080, false, ""},
		{"Blackwell of workstations", 120, 13000, false, ""},
	} {
		gpu, err := fake.Open(fake.Options{Capability: row.capability, Version: row.version})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open("cuda:0", gpu, 0, Libraries{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.Compile(large)
		if err != nil {
			t.Fatal(err)
		}
		p := x.(*program)
		launches, err := p.steps[0].(*opStep).kernels(p)
		if err != nil {
			t.Fatal(err)
		}
		if hopper := strings.HasPrefix(launches[0].Module, "wgmma"); hopper != row.hopper {
			t.Errorf("%s: matmul by %s", row.name, launches[0].Module)
		}
		switch err := d.MultipliesFP8(); {
		case row.fp8Unavailable == "" && err != nil, row.fp8Unavailable != "" && (err == nil || !strings.Contains(err.Error(), row.fp8Unavailable)):
			t.Errorf("%s: 8-bit floats: %v, want %q", row.name, err, row.fp8Unavailable)
		}
		// The selected kernel can be loaded.
		if _, err := d.code.entry(launches[0].Module, launches[0].Entry); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
