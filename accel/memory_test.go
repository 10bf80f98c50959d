package accel

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

// A tensor of 1 MiB is allocated until it is released, on the CPU and on a GPU, which keeps its memory for the next one.
func TestMemory(t *testing.T) {
	for _, device := range []string{"cpu", "simulated"} {
		if err := SetDevice(device); err != nil {
			t.Fatal(err)
		}
		memory := func() *MemoryUse {
			t.Helper()
			m, err := Memory()
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		before := memory()
		x := tensor.Zeros(1 << 18).AddScalar(1)
		with := memory()
		x.Release()
		after := memory()
		if with.Allocated-before.Allocated != 1<<20 || after.Allocated != before.Allocated {
			t.Errorf("%s: %d bytes are allocated before, %d with a tensor, %d after its release", device, before.Allocated, with.Allocated, after.Allocated)
		}
		if with.Device != Device() || with.Peak < with.Allocated || with.Reserved < before.Reserved || with.Limit <= 0 {
			t.Errorf("%+v", with)
		}
		if device != "cpu" && after.Reserved < before.Reserved+1<<20 {
			t.Errorf("%s: %d bytes are reserved after the release, %d before", device, after.Reserved, before.Reserved)
		}
		for _, want := range []string{Device() + ":", "allocated", "reserved", "at the peak"} {
			if !strings.Contains(with.String(), want) {
				t.Errorf("%q is missing in %s", want, with)
			}
		}
		if _, ok := with.Report().MIMEBundle()["image/svg+xml"]; !ok {
			t.Error("no figure")
		}
	}
	if err := SetDevice("cpu"); err != nil {
		t.Fatal(err)
	}
}
