//go:build !race

// The race detector makes the simulation ten times slower; the tests of the packages below
// already run this code with it.

package main

import (
	"testing"
	"time"
)

// TestQuickOnCUDA measures on the simulated GPU; accel/gpucheck runs all cases.
func TestQuickOnCUDA(t *testing.T) {
	if testing.Short() {
		t.Skip("trainings on the simulated GPU")
	}
	o := options{device: "simulated", quick: true, names: []string{"mlp", "gemm64", "gemm8-64"}, rounds: 1, limit: 5 * time.Minute}
	r, err := measure(t.Context(), o)
	if err != nil || r.Machine.GPU != "simulated" || len(r.Figures) != len(o.names) {
		t.Fatalf("%v, %+v", err, r)
	}
	for name, f := range r.Figures {
		if name == "gemm8-64" { // the simulated GPU has no 8-bit floats
			if len(f.Notes) != 1 || len(f.Times) != 0 || len(f.Failed) != 0 {
				t.Errorf("%s: %+v", name, f)
			}
			continue
		}
		if f.Times["quern"].Median <= 0 || len(f.Notes)+len(f.Failed)+len(f.Disagrees) > 0 {
			t.Errorf("%s: %+v", name, f)
		}
		if n := f.Counts; n.Launches != 1 || n.Kernels < 1 || n.Waits != 0 || n.Allocs != 0 || n.NewPlans != 0 || n.ToHost > 64 {
			t.Errorf("a repeated step of %s: %+v", name, n)
		}
	}
}
