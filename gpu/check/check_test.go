package main

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestUnknownDevice(t *testing.T) {
	if err := run(t.Context(), options{device: "abacus", only: "first", budget: time.Minute, result: os.DevNull}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("got %v", err)
	}
}

// A wrong result must be detected.
func TestDifference(t *testing.T) {
	for _, row := range []struct {
		a, b outcome
		want float64
	}{
		{outcome{{1, 2}}, outcome{{1, 2}}, 0},
		{outcome{{1, 2}}, outcome{{1, 4}}, 0.5},
		{outcome{{1}, {3, 8}}, outcome{{1}, {4, 8}}, 0.125},
	} {
		if got := difference(row.a, row.b); got != row.want {
			t.Errorf("%v and %v: %v, want %v", row.a, row.b, got, row.want)
		}
	}
	var nan float32
	nan /= nan
	if got := difference(outcome{{nan}}, outcome{{1}}); !math.IsInf(got, 1) {
		t.Errorf("NaN: %v", got)
	}
}

// The output of go test is parsed to the innermost tests with their results.
func TestReadTests(t *testing.T) {
	var r report
	var out bytes.Buffer
	lines := 0
	running, finished := r.readTests(bufio.NewScanner(strings.NewReader(`=== RUN   TestSum
=== RUN   TestSum/float32
    sum_test.go:9: element 3 is 1, want 2
=== RUN   TestSum/float64
--- FAIL: TestSum (0.10s)
    --- FAIL: TestSum/float32 (0.05s)
    --- PASS: TestSum/float64 (0.05s)
=== RUN   TestWgmma
    device_test.go:1: needs compute capability 9.0
--- SKIP: TestWgmma (0.00s)
=== RUN   TestMax
--- PASS: TestMax (0.01s)
=== RUN   TestLost
=== RUN   TestLost/float32
--- PASS: TestLost/float32 (0.00s)
=== RUN   TestLost/float64
    lost_test.go:3: begins
`)), func() { lines++ }, &out)
	if running != "TestLost/float64" || !finished["TestMax"] || !finished["TestSum"] || finished["TestLost"] || lines != 17 {
		t.Errorf("running %q, finished %v, %d lines", running, finished, lines)
	}
	want := []tested{
		{"TestSum/float32", "FAIL", "sum_test.go:9: element 3 is 1, want 2"}, {"TestSum/float64", "PASS", ""},
		{"TestWgmma", "SKIP", "device_test.go:1: needs compute capability 9.0"}, {"TestMax", "PASS", ""}, {"TestLost/float32", "PASS", ""},
	}
	if len(r.Kernels) != len(want) || r.KernelsWrong != 1 || r.KernelsSkipped != 1 {
		t.Errorf("%+v, %d wrong, %d skipped", r.Kernels, r.KernelsWrong, r.KernelsSkipped)
	}
	for i, k := range r.Kernels {
		if i < len(want) && k != want[i] {
			t.Errorf("got %+v, want %+v", k, want[i])
		}
	}
}

// script writes an executable shell script.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Tests that end their process, or never end, do not stop the others.
func TestTestsThatEndTheProcess(t *testing.T) {
	program := script(t, kernelProgram, `
case "$*" in
*-test.list*) echo TestAdd; echo TestAssemble; echo TestFaulty; echo TestHangs; echo TestMul; echo BenchmarkAdd; echo ok ;;
*Add*) echo "=== RUN   TestAdd"; echo "--- PASS: TestAdd (0.00s)"; echo "=== RUN   TestFaulty"; echo "=== RUN   TestFaulty/float32"; echo CUDA_ERROR_ILLEGAL_ADDRESS >&2; exit 3 ;;
*Hangs*) echo "=== RUN   TestHangs"; exec sleep 600 ;;
*Mul*) echo "=== RUN   TestMul"; echo "    mul_test.go:7: is 1, want 2"; echo "--- FAIL: TestMul (0.00s)"; exit 1 ;;
esac`)
	r := &report{}
	var out bytes.Buffer
	if err := checkKernels(t.Context(), options{device: "cuda:1", programs: filepath.Dir(program), pieceLimit: 5 * time.Second}, r, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var got []string
	for _, k := range r.Kernels {
		got = append(got, k.Test+" "+k.Result)
	}
	if want := []string{"TestAdd PASS", "TestFaulty/float32 FAIL", "TestHangs FAIL", "TestMul FAIL"}; !slices.Equal(got, want) || r.KernelsWrong != 3 {
		t.Errorf("got %q, %d wrong, want %q\n%s", got, r.KernelsWrong, want, out.String())
	}
	for _, want := range []string{"exit status 3", "CUDA_ERROR_ILLEGAL_ADDRESS", "no output for 5s", "is 1, want 2", "1 of 4 passed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// The benchmarks get the flags of the check, and what fails in them is reported.
func TestBenchProgram(t *testing.T) {
	program := script(t, benchProgram, `echo "called with $*"; echo "not all losses agree" >&2; exit 1`)
	o := options{device: "cuda:1", python: "py", out: "results", programs: filepath.Dir(program), quick: true}
	var out bytes.Buffer
	err := runBench(t.Context(), o, nil, &out)
	if want := "called with -device cuda:1 -python py -slice 0.5 -save -results results -quick"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in %q", want, out.String())
	}
	if err == nil || err.Error() != "exit status 1: not all losses agree" {
		t.Errorf("got %v", err)
	}
	o.programs = t.TempDir()
	if err := runBench(t.Context(), o, nil, &out); err == nil || !strings.Contains(err.Error(), "make gpu-check builds it") {
		t.Errorf("got %v", err)
	}
}

func TestSanitizer(t *testing.T) {
	found := script(t, "compute-sanitizer", `
case "$2" in
memcheck) echo "========= ERROR SUMMARY: 0 errors" ;;
*) echo "========= ERROR SUMMARY: 1 error from $5 $6 $7"; exit 9 ;;
esac`)
	t.Setenv("PATH", filepath.Dir(found)+":"+os.Getenv("PATH"))
	r := &report{}
	var out bytes.Buffer
	err := sanitize(t.Context(), options{device: "cuda", budget: time.Minute}, r, &out)
	if err == nil || !strings.Contains(err.Error(), "racecheck: exit status 9") || strings.Contains(err.Error(), "memcheck") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if len(r.Sanitizer) != len(sanitizers) || r.Sanitizer[0] != "memcheck: ========= ERROR SUMMARY: 0 errors" || !strings.Contains(r.Sanitizer[1], "-device cuda") {
		t.Errorf("%q", r.Sanitizer)
	}
}

// Ranks whose losses differ from one rank must be detected.
func TestCompareLosses(t *testing.T) {
	one := trained{Words: "one", Losses: []float64{2.3, 1.1, 0.4}}
	for _, row := range []struct {
		losses []float64
		want   string // empty if equal
	}{
		{[]float64{2.3, 1.1, 0.4}, ""},
		{[]float64{2.30001, 1.1, 0.40001}, ""},
		{[]float64{2.3, 1.2, 0.4}, "the loss of step 1 is 1.2, but 1.1 on one rank"},
		{[]float64{2.3, math.NaN(), 0.4}, "step 1 is NaN"},
		{[]float64{2.3, 1.1}, "2 steps"},
	} {
		err := compareLosses(one, trained{Words: "two", Losses: row.losses})
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%v: %v, want %q", row.losses, err, row.want)
		}
	}
}
