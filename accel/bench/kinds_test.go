package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
)

// TestKinds compares the results of two kinds of CPUs and leaves out that of a GPU.
func TestKinds(t *testing.T) {
	folder := t.TempDir()
	of := func(seconds float64) figure {
		return figure{Flops: 50, Peak: map[string]float64{"quern-2": 100}, Times: map[string]times{"quern-2": {Median: seconds}, "torch-2-eager": {Median: 2}}}
	}
	for _, r := range []result{
		{Machine: machine{CPU: "large", Cores: 2, Caches: &cpu.Caches{L2: cpu.Cache{Size: 2 << 20}}, HugePages: "granted"}, Versions: map[string]string{"kernels": "AVX512"}, Figures: map[string]figure{"mlp": of(1)}},
		{Machine: machine{CPU: "large", Cores: 2, Limited: avx2}, Versions: map[string]string{"kernels": "AVX2"}, Figures: map[string]figure{"mlp": of(4)}},
		{Machine: machine{CPU: "large", Cores: 2, GPU: "card"}, Figures: map[string]figure{"mlp": of(0.001)}},
	} {
		if err := r.save(folder); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := printKinds(&out, folder); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"large , AVX512, L1 0 KiB, L2 2048 KiB, L3 0 MiB, huge pages granted", "large AVX2, AVX2, caches unknown", "50.0 %", "torch 2.00", "12.5 %", "torch 0.50"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "card") {
		t.Errorf("a GPU is compared:\n%s", out.String())
	}
	if err := printKinds(&out, t.TempDir()); err == nil {
		t.Error("an empty folder is no error")
	}
}

// TestLimited limits the other frameworks as well when AVX-512 is switched off.
func TestLimited(t *testing.T) {
	for _, c := range []struct {
		features []string
		kernels  string
		want     string
	}{
		{[]string{"avx2", "avx512f"}, "AVX512", ""},
		{[]string{"avx2", "avx512f"}, "AVX2", avx2},
		{[]string{"avx2"}, "AVX2", ""},
	} {
		if got := limited(c.features, c.kernels); got != c.want {
			t.Errorf("limited(%v, %s) is %q, want %q", c.features, c.kernels, got, c.want)
		}
	}
	t.Setenv("XLA_FLAGS", "--other")
	if got := (machine{Limited: avx2}).limits(); !slices.Contains(got, "XLA_FLAGS=--other --xla_cpu_max_isa=AVX2") {
		t.Errorf("limits %v", got)
	}
	if got := (machine{}).limits(); got != nil {
		t.Errorf("a machine without a limit gets %v", got)
	}
}
