package cuda

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

// Kernels that need a later PTX version than the driver supports, or another GPU, must not be
// selected.
func TestKernelsByVersion(t *testing.T) {
	t.Parallel()
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
		large := ir.RowMajor([]int{4096, 4096})
		o := d.multiply(kernels.MatMul{A: large, B: large}, ir.BFloat16, ir.BFloat16)
		if _, hopper := o.(hopper); hopper != row.hopper {
			t.Errorf("%s: matmul by %T", row.name, o)
		}
		switch err := d.MultipliesFP8(); {
		case row.fp8Unavailable == "" && err != nil, row.fp8Unavailable != "" && (err == nil || !strings.Contains(err.Error(), row.fp8Unavailable)):
			t.Errorf("%s: 8-bit floats: %v, want %q", row.name, err, row.fp8Unavailable)
		}
		// The selected kernel can be loaded.
		launches, err := o.Launches(1<<20, 1<<20, 1<<20, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.code.entry(launches[0].Module, launches[0].Entry); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
