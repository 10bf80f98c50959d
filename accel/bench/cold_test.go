package main

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
)

func TestEmptyingBytes(t *testing.T) {
	of := func(l2, l3 int) cpu.Caches {
		return cpu.Caches{L2: cpu.Cache{Size: l2}, L3: cpu.Cache{Size: l3}}
	}
	for _, c := range []struct {
		name        string
		caches      cpu.Caches
		cores, want int
	}{
		{"a laptop", of(512<<10, 16<<20), 8, 32 << 20},
		{"no L3", of(12<<20, 0), 2, 48 << 20},
		{"a server", of(2<<20, 480<<20), 2, mostEmptied},
	} {
		if got := emptyingBytes(c.caches, c.cores); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}

// TestColdCases finds the benchmarks whose caches are emptied by their names, which are those of their figures.
func TestColdCases(t *testing.T) {
	c, err := options{device: "cpu"}.caseNamed("resnet18-1-cold")
	if err != nil || !c.cold || c.name != "resnet18-1-cold" || c.model != "resnet18" {
		t.Errorf("%q, model %q, cold %v, %v", c.name, c.model, c.cold, err)
	}
	if c, err := (options{device: "cpu"}).caseNamed("mlp"); err != nil || c.cold {
		t.Errorf("mlp: cold %v, %v", c.cold, err)
	}
	for _, o := range []options{{device: "cpu"}, {device: "cuda"}} {
		if _, err := o.caseNamed(map[string]string{"cpu": "nothing-cold", "cuda": "mlp-cold"}[o.device]); err == nil {
			t.Errorf("%s: no error", o.device)
		}
	}
}

// TestColdStepsEmptyTheCaches finds the memory changed before each step.
func TestColdStepsEmptyTheCaches(t *testing.T) {
	var b ballast
	steps, emptied := 0, 0
	w := workload{step: func() error {
		steps++
		if got := b.memory.Data(); len(got) == 1<<18 && got[0] == float32(steps) {
			emptied++
		}
		return nil
	}, value: constant}
	a, err := b.runCold(w, request{Steps: 3, Empty: 1 << 20})
	if err != nil || a.Seconds <= 0 || steps != 3 || emptied != 3 {
		t.Errorf("%d steps, before %d of which the caches were emptied, %+v, %v", steps, emptied, a, err)
	}
}
