package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func TestParseVariants(t *testing.T) {
	for text, want := range map[string]Variants{
		"":                                   {},
		" , ":                                {},
		"graphs=off":                         {NoGraphs: true},
		"graphs=on,wgmma=on":                 {},
		"graphs=off,graphs=on":               {},
		"wgmma=off, flash=off,autotune=off ": {NoWgmma: true, NoFlash: true, NoAutotune: true},
		"reads=off,fusion=off,batches=off":   {NoReads: true, NoFusion: true, NoBatches: true},
		"layout=off, batches=on":             {NoLayout: true},
		"pdl=on":                             {Early: true},
		"pdl=on,pdl=off":                     {},
		"cubin=on":                           {Cubin: true},
		"plans=16":                           {Plans: 16},
	} {
		if got, err := ParseVariants(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"graph=off", "graphs", "graphs=", "graphs=0", "Graphs=off", "plans=0", "plans=65", "plans=x", "plans=", "=", "layout=nhwc", "graphs=off;wgmma=off"} {
		v, err := ParseVariants("flash=off," + text)
		var unknown *UnknownVariantError
		if !errors.As(err, &unknown) || unknown.Setting != text || v != (Variants{}) || !strings.Contains(err.Error(), "graphs=(on, off)") {
			t.Errorf("%q: %+v, %v", text, v, err)
		}
	}
}

// Each variant changes what runs, and not the result.
func TestVariants(t *testing.T) {
	steps := func(text string) (first []float32, c driver.Counts, d *Device, plans int) {
		t.Helper()
		v, err := ParseVariants(text)
		if err != nil {
			t.Fatal(err)
		}
		gpu, err := fake.Open(fake.Options{Modules: modules, Capability: 90})
		if err != nil {
			t.Fatal(err)
		}
		d, err = Open("cuda:0", gpu, 0, Libraries{Autotune: true, Variants: v, CuBLASLt: func(ctx driver.Context) (cublaslt.Library, error) {
			return fakelib.OpenCuBLASLt(ctx)
		}})
		if err != nil {
			t.Fatal(err)
		}
		p := matMulStep(5, 6, 7)
		x, err := d.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		before := d.Counts()
		bind := bound(t, d, p)
		for range 3 {
			run(t, x, bind)
		}
		c = d.Counts()
		c.GraphLaunches -= before.GraphLaunches
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return values(t, d, bind[2]), c, d, len(x.(*program).steps[0].(*selection).candidates) - 1
	}
	attention := func(d *Device) bool {
		l := ir.RowMajor([]int{2, 3, 64, 64})
		return d.Multiplies16Bit(ir.Attention{}, ir.BFloat16, []ir.Layout{l, l, l})
	}
	want, counts, base, plans := steps("")
	wgmma := func(d *Device) bool { return (&program{device: d}).Wgmma() }
	if counts.GraphLaunches != 2 || plans != 3 || !attention(base) || !wgmma(base) || base.warmed.IsZero() {
		t.Errorf("without variants: %d launches of a graph, %d plans, attention in 16 bits %v, wgmma %v, measured %v", counts.GraphLaunches, plans, attention(base), wgmma(base), base.warmed)
	}
	for text, changed := range map[string]func(c driver.Counts, d *Device, plans int) bool{
		"graphs=off":   func(c driver.Counts, _ *Device, _ int) bool { return c.GraphLaunches == 0 },
		"plans=2":      func(_ driver.Counts, _ *Device, plans int) bool { return plans == 2 },
		"flash=off":    func(_ driver.Counts, d *Device, _ int) bool { return !attention(d) },
		"wgmma=off":    func(_ driver.Counts, d *Device, _ int) bool { return !wgmma(d) },
		"autotune=off": func(_ driver.Counts, d *Device, _ int) bool { return d.warmed.IsZero() },
		"reads=off": func(_ driver.Counts, d *Device, _ int) bool {
			return !d.Reads16Bit(ir.Softmax{}, 0) && !d.Writes16Bit(ir.Softmax{})
		},
		"layout=off":  func(_ driver.Counts, d *Device, _ int) bool { return !d.ChannelsLast(ir.Conv2D{}) },
		"pdl=on":      func(c driver.Counts, _ *Device, _ int) bool { return c.Early == 0 && c.Instantiates > 0 }, // one node, or after a library
		"batches=off": func(_ driver.Counts, d *Device, _ int) bool { return !d.RunsBatches() },
		"fusion=off": func(_ driver.Counts, d *Device, _ int) bool {
			return !d.FusesNorms() && !d.FusesLosses() && !d.SumsFactors(ir.Float32) && !d.Activates(ir.ReLU{}, ir.Float32) && !d.MultipliesSlope(ir.ReLUGradient{}, ir.Float32)
		},
	} {
		got, c, d, plans := steps(text)
		if !changed(c, d, plans) {
			t.Errorf("%s changes nothing: %+v, %d plans", text, c, plans)
		}
		for i := range want {
			if diff := got[i] - want[i]; diff > 1e-4 || diff < -1e-4 {
				t.Errorf("%s: element %d is %g, want %g", text, i, got[i], want[i])
			}
		}
	}
}

// fiveSteps is a matrix multiplication of 6×6 between elementwise kernels.
func fiveSteps() *ir.Program {
	p := &ir.Program{Slots: []ir.Slot{{Kind: ir.External, Bytes: 144}}}
	for i := range 5 {
		s := ir.Step{Op: ir.MatMul{}, In: []ir.Operand{operand(i, 6, 6), operand(i, 6, 6)}, Out: []ir.Operand{operand(i+1, 6, 6)}}
		if i != 1 {
			s = ir.Step{Shape: []int{6, 6}, Loop: []ir.Instr{{Op: ir.Tanh{}, Args: []int{0}}}, In: s.In[:1], Out: s.Out}
		}
		p.Slots, p.Steps = append(p.Slots, ir.Slot{Kind: ir.Output, Bytes: 144}), append(p.Steps, s)
	}
	return p
}

// lastOfFive runs fiveSteps several times, and returns the values of its last operand.
func lastOfFive(t *testing.T, d *Device, times int) []float32 {
	t.Helper()
	p := fiveSteps()
	x, err := d.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	bind := bound(t, d, p)
	for range times {
		run(t, x, bind)
	}
	return values(t, d, bind[len(bind)-1])
}

// With pdl=on, kernels begin before the end of the kernel before. A call of a library, a fill and an event
// are waited for. The simulator checks that no kernel accesses memory before it waits.
func TestEarlyKernels(t *testing.T) {
	run3 := func(early, library bool) (first []float32, c driver.Counts) {
		t.Helper()
		gpu, err := fake.Open(fake.Options{Modules: modules, Capability: 90, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		use := Libraries{Variants: Variants{Early: early}}
		if library {
			use.CuBLASLt = fakelib.OpenCuBLASLt
		}
		d, err := Open("cuda:0", gpu, 0, use)
		if err != nil {
			t.Fatal(err)
		}
		first = lastOfFive(t, d, 3)
		c = d.Counts()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		return first, c
	}
	want, c := run3(false, false)
	if c.Early != 0 || c.GraphLaunches != 2 {
		t.Errorf("without pdl=on: %+v", c)
	}
	for _, row := range []struct {
		library bool
		early   int // of the five kernels of the graph
	}{{false, 4}, {true, 2}} {
		got, c := run3(true, row.library)
		if c.Early != row.early || c.GraphLaunches != 2 {
			t.Errorf("library %v: %d kernels begin early, want %d: %+v", row.library, c.Early, row.early, c)
		}
		for i := range want {
			if diff := got[i] - want[i]; diff > 1e-4 || diff < -1e-4 {
				t.Errorf("library %v: element %d is %g, want %g", row.library, i, got[i], want[i])
			}
		}
	}
}

func TestUnavailableVariant(t *testing.T) {
	for _, o := range []fake.Options{{Modules: modules, Capability: 89, Version: 13000}, {Modules: modules, Capability: 90, Version: 12020}} {
		gpu, err := fake.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open("cuda:0", gpu, 0, Libraries{Variants: Variants{Early: true}})
		var unavailable *UnavailableVariantError
		if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "pdl=on is not available: ") {
			t.Errorf("capability %d, CUDA %d: %v", o.Capability, o.Version, err)
		}
	}
}

// With cubin=on, ptxas assembles each module once before it is loaded. The stub returns the PTX itself, which is what the simulator
// can load.
func TestCubins(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stub of ptxas is a shell script")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ptxas"), []byte("#!/bin/sh\necho \"$1\" >> \"$0.calls\"; cat \"$4\" > \"$3\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	open := func(v Variants) (*Device, error) {
		gpu, err := fake.Open(fake.Options{Modules: modules, Capability: 90})
		if err != nil {
			t.Fatal(err)
		}
		return Open("cuda:0", gpu, 0, Libraries{Variants: v})
	}
	t.Setenv(library.Variable, "none")
	var unavailable *UnavailableVariantError
	if _, err := open(Variants{Cubin: true}); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "cubin=on is not available: ptxas: switched off") {
		t.Errorf("without ptxas: %v", err)
	}
	t.Setenv(library.Variable, folder)
	var want []float32
	for _, v := range []Variants{{}, {Cubin: true}, {Cubin: true, Early: true}, {Cubin: true}} {
		d, err := open(v)
		if err != nil {
			t.Fatal(err)
		}
		got := lastOfFive(t, d, 1)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", v, got, want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "ptxas.calls"))
	if calls := strings.Count(string(text), "-arch=sm_90a\n"); err != nil || calls != 4 { // two modules, with and without waits
		t.Errorf("%d calls, %v", calls, err)
	}
}
