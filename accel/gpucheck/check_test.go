package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/internal/testenv"
)

// TestMain lets the program start this test program for each of its parts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "part" {
		main()
	}
	os.Exit(m.Run())
}

// called runs the program and returns its exit status and output.
func called(t *testing.T, args ...string) (status int, output string) {
	t.Helper()
	var out bytes.Buffer
	status = start(t.Context(), args, &out, &out)
	return status, out.String()
}

// resultIn returns the only report in a folder.
func resultIn(t *testing.T, folder string) (report, string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "????-??-??-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("results %v, %v", files, err)
	}
	r, err := readReport(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return r, files[0]
}

func TestCommandLine(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{nil, "no command"},
		{[]string{"ask"}, "unknown command"},
		{[]string{"-device", "cuda"}, "there is no part"},
		{[]string{"part"}, "unknown command"},
		{[]string{"part", "nothing"}, `there is no part "nothing"`},
		{[]string{"tell", "again"}, `unexpected argument "again"`},
		{[]string{"tell", "-budget", "3m"}, "flag provided but not defined"},
	} {
		if status, output := called(t, row.args...); status != exitUsage || !strings.Contains(output, row.want) {
			t.Errorf("%q: status %d, want %q in\n%s", row.args, status, row.want, output)
		}
	}
}

// The times of the parts add up to the limit, and the first part describes the machine.
func TestReserves(t *testing.T) {
	limits := map[string]time.Duration{"tell": 210 * time.Second, "compare": 330 * time.Second}
	for _, c := range commands() {
		sum := gracePeriod
		for _, p := range c.parts {
			sum += p.reserve
		}
		if sum != c.limit || c.limit > limits[c.name] || c.parts[0].name != machinePart {
			t.Errorf("%s: the parts take %v, the limit is %v", c.name, sum, c.limit)
		}
	}
}

// Without a GPU there is a result file with the reason, and no part is missing in it.
func TestNoGPU(t *testing.T) {
	for _, c := range commands() {
		folder := filepath.Join(t.TempDir(), "new", "results")
		status, output := called(t, c.name, "-device", "cuda:77", "-out", folder)
		r, path := resultIn(t, folder)
		if status != exitIncomplete || r.Missing == "" || len(r.Parts) != len(c.parts) || r.Machine == nil || len(r.Machine.Libraries) != 4 || len(r.Machine.Driver) != 2 {
			t.Errorf("%s: status %d, %+v\n%s", c.name, status, r, output)
		}
		if !strings.HasSuffix(path, "-cuda-77-"+c.name+".json") {
			t.Error(path)
		}
		for _, p := range r.Parts {
			if p.Status != missing || p.Why == "" {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
		text, err := os.ReadFile(strings.TrimSuffix(path, ".json") + ".txt")
		if err != nil || !strings.Contains(output, string(text)) || !strings.Contains(string(text), "the exit status is 3: the worst part is missing") {
			t.Errorf("%s: the table is not saved: %v\n%s", c.name, err, text)
		}
	}
}

func TestExitStatus(t *testing.T) {
	for _, row := range []struct {
		statuses []string
		want     int
	}{
		{nil, 0},
		{[]string{complete, complete}, 0},
		{[]string{complete, missing}, exitIncomplete},
		{[]string{incomplete, complete}, exitIncomplete},
		{[]string{failed}, exitIncomplete},
		{[]string{missing, wrong, failed}, exitWrong},
	} {
		r := &report{Command: "tell"}
		for i, s := range row.statuses {
			r.Parts = append(r.Parts, partResult{Name: fmt.Sprint(i), Status: s})
		}
		if got := r.exit(); got != row.want {
			t.Errorf("%v: %d, want %d", row.statuses, got, row.want)
		}
		if table := r.table(); !strings.Contains(table, fmt.Sprintf("the exit status is %d", row.want)) {
			t.Errorf("%v: %s", row.statuses, table)
		}
	}
	p := partResult{Status: complete}
	p.worse(failed, "a")
	p.worse(missing, "b")
	p.worse(complete, "a")
	if p.Status != failed || p.Why != "a; b" {
		t.Errorf("%+v", p)
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
	for _, row := range []struct {
		got, want []float64
		wrong     string
	}{
		{[]float64{2, 1}, []float64{2, 1.0005}, ""},
		{[]float64{2, 1}, []float64{2, 1.1}, "the loss of step 2 is 1, the CPU computes 1.1"},
		{[]float64{math.NaN(), 1}, []float64{2, 1}, "the loss of step 1 is NaN"},
		{[]float64{2, 1}, []float64{2, math.Inf(1)}, "the CPU computes +Inf"},
		{[]float64{2}, []float64{2, 1}, "1 losses, the CPU computes 2"},
		{nil, nil, ""},
	} {
		s := smoked{Losses: row.got, CPU: row.want, Tolerance: smoke32}
		s.compare()
		if (s.Error == "") != (row.wrong == "") || !strings.Contains(s.Error, row.wrong) {
			t.Errorf("%v and %v: %q, want %q", row.got, row.want, s.Error, row.wrong)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(err)
		}
	}
}

// A wrong gradient must be detected, also one of the right norm, and rounding errors are not wrong.
func TestCompareGradients(t *testing.T) {
	want := training{gradients: []float64{1, -2, 0.001}, norms: []float64{2, 3, 0.001}}
	for _, row := range []struct {
		gradients, norms []float64
		wrong            string
	}{
		{[]float64{1, -2, 0.001}, []float64{2, 3, 0.001}, ""},
		{[]float64{1.0001, -2.0001, 0.001}, []float64{2.0001, 3, 0.001}, ""},
		{[]float64{1, -2, -0.0001}, []float64{2, 3, 0.0011}, "differs"}, // 0.0011 of a scale of 0.15
		{[]float64{1, -2, 0.0009}, []float64{2, 3, 0.0009}, ""},
		{[]float64{1.5, -2, 0.001}, []float64{2, 3, 0.001}, "the gradient of parameter 0 differs by 0.25 of its norm"},
		{[]float64{1, -2, 0.001}, []float64{2, 4, 0.001}, "parameter 1"},
		{[]float64{1, math.NaN(), 0.001}, []float64{2, math.NaN(), 0.001}, "parameter 1"},
		{[]float64{0, 0, 0}, []float64{0, 0, 0}, "parameter 0"},
		{[]float64{1, -2}, []float64{2, 3}, "2 parameters, the CPU has 3"},
	} {
		_, err := compareGradients(training{gradients: row.gradients, norms: row.norms}, want, gradients32)
		if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%v, %v: %v, want %q", row.gradients, row.norms, err, row.wrong)
		}
	}
	none := training{gradients: []float64{0}, norms: []float64{0}}
	if _, err := compareGradients(none, none, 1); err == nil {
		t.Error("gradients of 0 are compared")
	}
}

// What is wrong in the report of a part makes the part wrong.
func TestWrongResults(t *testing.T) {
	for name, record := range map[string]func(r *report){
		"op":    func(r *report) { r.add(checked{Op: "Add", Difference: math.NaN(), Tolerance: 1}, &bytes.Buffer{}) },
		"model": func(r *report) { r.addSmoked(smoked{Model: "mlp", Error: "differs"}, &bytes.Buffer{}) },
		"test":  func(r *report) { r.addTest(tested{"TestAdd", "FAIL", "is 1"}, &bytes.Buffer{}) },
	} {
		r := &report{Command: "tell", progress: progress{Part: &partResult{Status: complete}}}
		record(r)
		if r.Part.Status != wrong || !strings.Contains(r.table(), "WRONG "+map[string]string{"op": "op", "model": "model", "test": "kernel test"}[name]) {
			t.Errorf("%s: %+v\n%s", name, r.Part, r.table())
		}
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
	if !slices.Equal(r.Kernels, want) {
		t.Errorf("got %+v, want %+v", r.Kernels, want)
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
*-test.list*) echo TestAdd; echo TestAssemble; echo TestLoad; echo TestFaulty; echo TestHangs; echo TestMul; echo BenchmarkAdd; echo ok ;;
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
	if want := []string{"TestAdd PASS", "TestFaulty/float32 FAIL", "TestHangs FAIL", "TestMul FAIL"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q\n%s", got, want, out.String())
	}
	for _, want := range []string{"exit status 3", "CUDA_ERROR_ILLEGAL_ADDRESS", "no output for 5s", "is 1, want 2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// The load times of machine code are those that the test of the kernels prints; without ptxas they are missing.
func TestCubins(t *testing.T) {
	for _, row := range []struct{ script, status, want string }{
		{`case "$CUDA_CACHE_DISABLE $QUERN_KERNELS_DEVICE $*" in "1 1 "*TestLoadCubins*-test.short*) ;; *) exit 1 ;; esac
echo "=== RUN"; echo 'cubins: {"assembler": "/bin/ptxas", "assembled": 61, "seconds": 6.5, "modules": [{"module": "a", "compiled": 100, "loaded": 1.5}, {"module": "b", "compiled": 200, "loaded": 1}]}'; echo PASS`,
			complete, "2 modules: the driver takes 300 ms for their PTX and 2.5 ms for their machine code; /bin/ptxas assembled all 61 modules in 6.5 s"},
		{`echo 'cubins: {"missing": "ptxas: not found"}'`, missing, "ptxas: not found"},
		{`echo "    load_test.go:7: CUDA_ERROR_INVALID_IMAGE"; exit 1`, failed, "CUDA_ERROR_INVALID_IMAGE"},
		{`echo PASS`, failed, "no modules were loaded: PASS"},
		{`echo 'cubins: {'`, failed, "unexpected"},
	} {
		r := &report{}
		var out bytes.Buffer
		err := loadCubins(t.Context(), options{device: "cuda:1", programs: filepath.Dir(script(t, kernelProgram, row.script))}, r, &out)
		if status := statusOf(t.Context(), err); status != row.status || (r.Cubins == nil) != (status != complete) {
			t.Errorf("%s: %v, %+v", row.script, err, r.Cubins)
		}
		text := r.table()
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, row.want) {
			t.Errorf("%q is not in\n%s", row.want, text)
		}
		into := &report{}
		if into.take(*r); into.Cubins != r.Cubins {
			t.Errorf("merged: %+v", into.Cubins)
		}
	}
}

// A program that is not beside this one is missing, not failed.
func TestMissingPrograms(t *testing.T) {
	o := options{device: "cuda", programs: t.TempDir(), out: t.TempDir(), result: os.DevNull}
	for name, run := range map[string]func(context.Context, options, *report) error{
		"kernels": func(ctx context.Context, o options, r *report) error { return checkKernels(ctx, o, r, &bytes.Buffer{}) },
		"profile": func(ctx context.Context, o options, r *report) error {
			return profileModels(ctx, o, r, &bytes.Buffer{})
		},
		"variants": func(ctx context.Context, o options, r *report) error {
			return compareVariants(ctx, o, r, &bytes.Buffer{})
		},
	} {
		err := run(t.Context(), o, &report{})
		if err == nil || statusOf(t.Context(), err) != missing || !strings.Contains(err.Error(), "make gpu-archive builds it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Setenv(cacheVariable, t.TempDir())
	if err := readCandidates(t.Context(), o, &report{}, &bytes.Buffer{}); statusOf(t.Context(), err) != missing {
		t.Errorf("candidates: %v", err)
	}
}

// What accel/bench writes is read, also if it fails, and what is not in it is named.
func TestBench(t *testing.T) {
	program := script(t, benchProgram, `
echo "called with $*"
for a; do last="$file"; file="$a"; case "$last" in -results) echo '{"figures": {
  "gpt2": {"samples": 10, "times": {"quern": {"median": 0.5}, "torch-eager": {"median": 1}}},
  "mlp": {"times": {"quern": {"median": 0.001}}}, "resnet9": {"times": {"quern": {"median": 0.002}}}}}' > "$a/machine.json" ;;
-profile) case "$*" in *lstm*) echo "no such model" >&2; exit 1 ;; *) echo '{"case": "'$4'", "step": 0.5, "rows": [{"kernels": "a", "seconds": 0.4}]}' > "$a" ;; esac ;;
-variants-file) echo '[{"case": "'$4'", "setting": "graphs=off", "default": 1, "seconds": 2, "ratio": 2.01}, {"setting": "flash=off", "error": "unknown"}, {"case": "'$4'", "setting": "pdl=on", "not_measured": "it is not available"}]' > "$a" ;; esac; done
case "$*" in *-results*) echo "torch is not measured: no module named torch" >&2 ;; esac`)
	o := options{device: "cuda:1", python: "no-such-python", programs: filepath.Dir(program), result: os.DevNull}
	r := &report{Command: "compare"}
	var out bytes.Buffer
	err := compareModels(t.Context(), o, r, &out)
	if statusOf(t.Context(), err) != missing || !strings.Contains(err.Error(), "resnet9 torch-eager") || strings.Contains(err.Error(), "gpt2 torch-eager") {
		t.Errorf("got %v", err)
	}
	if err := profileModels(t.Context(), o, r, &out); err == nil || !strings.Contains(err.Error(), "lstm: exit status 1: no such model") || len(r.Profiles) != 3 || r.Profiles[0].Case != "mlp" {
		t.Errorf("got %v, %+v", err, r.Profiles)
	}
	r.Part = &partResult{Status: complete}
	err = compareVariants(t.Context(), o, r, &out)
	if err == nil || !strings.Contains(err.Error(), "gpt2: flash=off: unknown\n") || strings.Contains(err.Error(), "pdl=on") || len(r.Variants) != 3*len(variantsOf) {
		t.Errorf("got %v, %+v", err, r.Variants)
	}
	if statusOf(t.Context(), err) != failed || r.Part.Status != missing || !strings.Contains(r.Part.Why, "gpt2: pdl=on: it is not available") || !strings.Contains(r.table(), "not measured  it is not available") {
		t.Errorf("%+v\n%s", r.Part, r.table())
	}
	if !strings.Contains(out.String(), "called with -device cuda:1 -bench gpt2,resnet9,mlp") {
		t.Errorf("%s", out.String())
	}
	table := r.table()
	for _, want := range []string{"gpt2     500 ms  20", "1 s (2.00× ours)", "missing", "2.010", "mlp: 500 ms a step", "80 %"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
}

// Without any time of PyTorch, the reason is that of the benchmarks.
func TestWithoutPyTorch(t *testing.T) {
	var b benchResult
	if err := json.Unmarshal([]byte(`{"figures": {"gpt2": {"times": {"quern": {"median": 1}}}, "mlp": {"times": {"quern": {"median": 1}}}, "resnet9": {"times": {"quern": {"median": 1}}}}}`), &b); err != nil {
		t.Fatal(err)
	}
	var absent *missingError
	if err := b.lacks("no module named torch"); !errors.As(err, &absent) || !strings.Contains(err.Error(), "no module named torch") {
		t.Errorf("got %v", err)
	}
	delete(b.Figures, "mlp")
	if err := b.lacks(""); err == nil || errors.As(err, &absent) || err.Error() != "not measured: mlp" {
		t.Errorf("got %v", err)
	}
}

// The times of all candidates are read, the fastest first and the rejected last.
func TestCandidates(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "quern"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := `{"H100 …": {"op": "MatMul [5 7] [7 6] → [5 6]", "selected": "2 cuBLASLt 1", "candidates": [
		{"name": "0 own kernel", "milliseconds": 10}, {"name": "1 cuBLASLt 0", "rejected": "NaN"}, {"name": "2 cuBLASLt 1", "milliseconds": 2}]}}`
	if err := os.WriteFile(filepath.Join(folder, "quern", "cuda-algorithms.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(cacheVariable, folder)
	r := &report{}
	if err := readCandidates(t.Context(), options{}, r, &bytes.Buffer{}); err != nil || len(r.Candidates) != 1 {
		t.Fatalf("%v, %+v", err, r.Candidates)
	}
	want := []candidate{{"2 cuBLASLt 1", 2, ""}, {"0 own kernel", 10, ""}, {"1 cuBLASLt 0", 0, "NaN"}}
	if got := r.Candidates[0].Candidates; !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := candidatesSummary(r.Candidates); got != "1 selections, our own kernel in 0; our own kernels take 10 ms in all, the selected 2 ms; 1 algorithms rejected" {
		t.Error(got)
	}
}

func TestSanitizer(t *testing.T) {
	found := script(t, "compute-sanitizer", `
case "$*" in
*mlp*) echo "========= ERROR SUMMARY: 0 errors" ;;
*) echo "========= ERROR SUMMARY: 1 error from $5 $6 $7 $8"; exit 9 ;;
esac`)
	t.Setenv("PATH", filepath.Dir(found)+":"+os.Getenv("PATH"))
	r := &report{}
	var out bytes.Buffer
	err := sanitize(t.Context(), options{device: "cuda", result: os.DevNull}, r, &out)
	if err == nil || !strings.Contains(err.Error(), "gpt: exit status 9") || strings.Contains(err.Error(), "mlp") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if len(r.Sanitizer) != len(sanitized) || r.Sanitizer[0] != "mlp: ========= ERROR SUMMARY: 0 errors" || !strings.Contains(r.Sanitizer[1], "part smoke -device") {
		t.Errorf("%q", r.Sanitizer)
	}
	t.Setenv("PATH", t.TempDir())
	if findTool("compute-sanitizer") == "" {
		if err := sanitize(t.Context(), options{}, r, &out); statusOf(t.Context(), err) != missing {
			t.Errorf("without it: %v", err)
		}
	}
}

// Nsight Compute gets the names of the longest kernels, and its table is read.
func TestNCU(t *testing.T) {
	bench := script(t, benchProgram, `for a; do case "$last" in -profile) echo '{"case": "gpt2", "rows": [{"kernels": "flash_forward_bf16_64"}, {"kernels": "cuBLASLt 3 + loop"},
 {"kernels": "loop"}, {"kernels": "norm_warp"}]}' > "$a" ;; esac; last="$a"; done`)
	ncu := script(t, "ncu", `echo "$*" > "$(dirname "$0")/arguments"
for a; do case "$last" in --log-file) cat > "$a" <<END
==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","launch__registers_per_thread"
"","","","","","us","register/thread"
"0","7","flash_forward_bf16_64","(128, 1, 1)","(192, 1, 1)","81.20","158"
"1","7","void nvjet<float, 4>(int)","(384, 1, 1)","(132, 1, 1)","1,204.5","168"
END
;; esac; last="$a"; done`)
	t.Setenv("PATH", filepath.Dir(ncu)+":"+os.Getenv("PATH"))
	r := &report{Command: "compare"}
	if err := runNCU(t.Context(), options{device: "cuda", programs: filepath.Dir(bench), out: t.TempDir(), result: os.DevNull}, r, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if len(r.NCU) != 2 || r.NCU[0].Kernel != "flash_forward_bf16_64" || r.NCU[0].Metrics["gpu__time_duration.sum"] != "81.20 us" || r.NCU[1].Metrics["launch__registers_per_thread"] != "168 register/thread" || r.NCU[1].Launch != "(384, 1, 1) (132, 1, 1)" {
		t.Errorf("%+v", r.NCU)
	}
	arguments, err := os.ReadFile(filepath.Join(filepath.Dir(ncu), "arguments"))
	if err != nil || !strings.Contains(string(arguments), "regex:^(flash_forward_bf16_64|loop|norm_warp|"+libraryKernels+")$") || !strings.Contains(string(arguments), "-bench gpt2 -steps 1") {
		t.Errorf("%v: %s", err, arguments)
	}
	for _, text := range []string{"", "==ERROR== no kernels", `"ID","Kernel Name"` + "\n"} {
		if all, err := parseNCU(text); err != nil || all != nil {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
}

// Files that belong to another user are named with what to do, and -chown does it.
func TestRefusedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libcudnn.so.9")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 12345, -1); err != nil {
			testenv.Missing(t, "%v", err)
		}
	}
	find := func() []refusal {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o022 == 0 {
			return nil
		}
		return []refusal{{path, path + " can be written by everybody"}, {path, path + " can be written by everybody"}}
	}
	m := &machine{User: os.Geteuid()}
	m.refuse(options{}, find)
	if len(m.Refused) == 0 || !strings.Contains(m.Fix, "chown -h") || !strings.Contains(m.Fix, path) || len(m.Fixed) != 0 {
		t.Errorf("%+v", m)
	}
	m = &machine{User: os.Geteuid()}
	m.refuse(options{chown: true}, find)
	if len(m.Refused) != 0 || m.Fix != "" || !slices.Equal(m.Fixed, []string{path}) {
		t.Errorf("%+v", m)
	}
	// What does not help ends, and so does what fails.
	m = &machine{User: os.Geteuid()}
	m.refuse(options{chown: true}, func() []refusal { return []refusal{{path, "is still refused"}} })
	if len(m.Refused) != 2 || m.Fix == "" {
		t.Errorf("%+v", m)
	}
	m = &machine{User: os.Geteuid()}
	m.refuse(options{chown: true}, func() []refusal { return []refusal{{path + "-missing", "is refused"}} })
	if len(m.Refused) != 2 || len(m.Fixed) != 0 {
		t.Errorf("%+v", m)
	}
}

// nvidia-smi is asked in groups: a version that does not know one answers the others.
func TestNVIDIASMI(t *testing.T) {
	found := script(t, "nvidia-smi", `case "$*" in *ecc*) echo "Field \"ecc.mode.current\" is not a valid field to query." ; exit 2 ;;
*mig*) echo "[N/A]" ;; *persistence*) echo "Enabled, Default, 5, 16, 0 MiB, 81559 MiB" ;; *) echo "580.159.04, 96.00, P0, 345 MHz, 1593 MHz, 1980 MHz, 2619 MHz, 1980 MHz, 71.2 W, 700.00 W, 30" ;; esac`)
	m := &machine{Tools: map[string]string{"nvidia-smi": found}}
	m.queryNVIDIA(t.Context())
	if m.SMI["driver_version"] != "580.159.04" || m.SMI["clocks.max.sm"] != "1980 MHz" || m.SMI["mig.mode.current"] != "[N/A]" || m.SMI["memory.total"] != "81559 MiB" || !strings.Contains(m.SMI["ecc.mode.current"], "not a valid field") {
		t.Errorf("%+v", m.SMI)
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

func TestShareFor(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Hour)
	defer cancel()
	for _, c := range []struct{ n, all, hours int }{{1, 4, 25}, {3, 4, 75}, {4, 4, 100}} {
		own, cancel := shareFor(ctx, c.n, c.all)
		end, _ := own.Deadline()
		if left := time.Until(end).Round(time.Hour); left != time.Duration(c.hours)*time.Hour {
			t.Errorf("%d of %d pieces have %v", c.n, c.all, left)
		}
		cancel()
	}
	own, cancel := shareFor(t.Context(), 1, 2)
	defer cancel()
	if _, ok := own.Deadline(); ok {
		t.Error("there is a deadline")
	}
}

// Tests of the kernels that read files of their folder do not run on a machine that has only the programs.
func TestTestsWithFilesRunElsewhere(t *testing.T) {
	files, err := filepath.Glob("../../accel/internal/cuda/kernels/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	reads, name, checked := regexp.MustCompile(`filesNamed\(|os\.(Open|ReadFile)\(|golden\.`), regexp.MustCompile(`(?m)^func (Test\w+)\(t`), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !reads.Match(text) {
			continue
		}
		for _, m := range name.FindAllSubmatch(text, -1) {
			if checked++; !elsewhere.Match(m[1]) {
				t.Errorf("%s of %s would run on the GPU", m[1], file)
			}
		}
	}
	if checked < 4 {
		t.Errorf("only %d tests read files", checked)
	}
}
