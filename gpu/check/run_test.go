//go:build !race

// The race detector makes the simulation ten times slower; the tests of the packages below
// already run this code with it.

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/internal/testenv"
)

// TestMain lets the check start this test program for each of its parts.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-result") {
		parts = append(parts, part{name: "ending", bare: true, run: ending})
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// quick runs the whole command on the simulated GPU.
func quick(t *testing.T, o options) (r report, output string, err error) {
	t.Helper()
	o.device, o.quick, o.out = "simulated", true, t.TempDir()
	if o.budget == 0 {
		o.budget = 10 * time.Minute
	}
	var out bytes.Buffer
	err = run(t.Context(), o, &out)
	files, e := filepath.Glob(filepath.Join(o.out, "????-??-??-simulated.json"))
	if e != nil || len(files) != 1 {
		t.Fatalf("results %v, %v, %v\n%s", files, e, err, out.String())
	}
	if r, e = readReport(files[0]); e != nil {
		t.Fatal(e)
	}
	return r, out.String(), err
}

// The whole command on the simulated GPU, so that it works the first time on a real one.
func TestQuickRunOnCUDA(t *testing.T) {
	if testing.Short() {
		t.Skip("a training on the simulated GPU")
	}
	goTool, programs := testenv.Command(t, "go"), t.TempDir()
	for _, arguments := range [][]string{
		{"test", "-c", "-o", filepath.Join(programs, kernelProgram), "../../accel/internal/cuda/kernels"},
		{"build", "-o", filepath.Join(programs, benchProgram), "../../accel/bench"},
	} {
		if text, err := exec.Command(goTool, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, text)
		}
	}
	r, output, err := quick(t, options{programs: programs})
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{"comparisons of ops with the CPU", "FP8", "MLP [20 16 16 10]", "ResNet-9", "GPT-2", "matmul 64³", "first use", "launches of", "data-parallel", "2 ranks", "other GPUs", "compute-sanitizer", "peak ", "written to"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is not in the output:\n%s", want, output)
		}
	}
	if n := strings.Count(output, "note: "); n != 1 { // the simulated GPU has no 8-bit floats
		t.Errorf("%d notes:\n%s", n, output)
	}
	if len(r.Ops) < 80 || r.Wrong != 0 || len(r.Kernels) < 20 || r.KernelsWrong != 0 || len(r.Ranks) != 2 || len(r.Problems) > 0 || r.FirstUse <= 0 || r.Ceilings == nil || r.Profile == "" {
		t.Errorf("%d ops, %d wrong, %d kernel tests, %d wrong, %d trainings on ranks, first use %v, problems %q", len(r.Ops), r.Wrong, len(r.Kernels), r.KernelsWrong, len(r.Ranks), r.FirstUse, r.Problems)
	}
}

// ending returns a part with four pieces, two of which end the process.
func ending(ctx context.Context, o options, r *report, out io.Writer) error {
	return r.each(ctx, o, []string{"good", "crash", "endless", "last"}, func(i int) error {
		switch i {
		case 1:
			fmt.Fprintln(os.Stderr, "it is gone")
			os.Exit(3)
		case 2:
			select {}
		}
		r.add(checked{Op: fmt.Sprint("piece ", i)}, out)
		return nil
	})
}

// Pieces that end their process do not stop the others.
func TestPiecesThatEndTheProcess(t *testing.T) {
	r := &report{}
	var out bytes.Buffer
	r.apart(t.Context(), options{device: "cpu", pieceLimit: 2 * time.Second}, part{name: "ending", bare: true}, &out)
	if len(r.Ops) != 2 || r.Ops[0].Op != "piece 0" || r.Ops[1].Op != "piece 3" || len(r.Problems) != 2 || r.Next != 0 {
		t.Errorf("%+v\n%s", r, out.String())
	}
	for _, want := range []string{"ending: crash: exit status 3", "it is gone", "ending: endless: exit status 4", "no result in 2s"} {
		if !strings.Contains(strings.Join(r.Problems, "; "), want) {
			t.Errorf("%q is not in %q", want, r.Problems)
		}
	}
}

// A part that fails, and one without time left, do not stop the others.
func TestPartsThatFailOnCUDA(t *testing.T) {
	before := parts
	defer func() { parts = before }()
	ran := func(name string) part {
		return part{name: name, bare: true, run: nil}
	}
	parts = []part{ran("no such part"), before[0], ran("nor this")}
	r, output, err := quick(t, options{})
	if err != nil || r.FirstUse <= 0 || len(r.Problems) != 2 {
		t.Errorf("%v, first use %v, problems %q\n%s", err, r.FirstUse, r.Problems, output)
	}
	parts = before[:2]
	r, output, err = quick(t, options{budget: time.Nanosecond})
	if err != nil || len(r.Problems) != 2 || !strings.Contains(r.Problems[1], "the time budget of 1ns is used up") {
		t.Errorf("%v, problems %q\n%s", err, r.Problems, output)
	}
}
