package kernels

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/internal/testenv"
)

// TestRegenerate compiles all PTX again and compares.
func TestRegenerate(t *testing.T) {
	if testing.Short() {
		t.Skip("runs clang for 15 s")
	}
	out, err := exec.Command("clang-19", "--version").Output()
	if err != nil {
		testenv.Missing(t, "clang-19 is not installed (Debian: apt-get install clang-19), so the PTX cannot be compiled again")
	}
	if !strings.Contains(string(out), "19.1.7") {
		testenv.Missing(t, "the PTX is compiled with clang 19.1.7; installed is %s", strings.SplitN(string(out), "\n", 2)[0])
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "./build.sh")
	build.Env = append(os.Environ(), "OUT="+dir)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range made {
		made[i] = filepath.Base(name)
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(made[i]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s does not match its source: run go generate", made[i])
		}
	}
	here, err := filepath.Glob("*.ptx")
	if err != nil || !slices.Equal(here, made) {
		t.Errorf("the files are %v, the sources compile to %v", here, made)
	}
}

// assembler finds ptxas on PATH, or in an environment of Python that has the
// package nvidia-cuda-nvcc-cu12.
func assembler(t *testing.T) string {
	if path, err := exec.LookPath("ptxas"); err == nil {
		return path
	}
	for _, venv := range []string{os.Getenv("VIRTUAL_ENV"), "../../../../.venv"} {
		found, err := filepath.Glob(filepath.Join(venv, "lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))
		if err == nil && len(found) > 0 && venv != "" {
			return found[0]
		}
	}
	testenv.Missing(t, "ptxas is not installed (pip install nvidia-cuda-nvcc-cu12), so the PTX cannot be assembled")
	return ""
}

var (
	functionPattern = regexp.MustCompile(`Function properties for (\w+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads[^\n]*\n[^\n]*Used (\d+) registers([^\n]*)`)
	sharedPattern   = regexp.MustCompile(`(\d+) bytes smem`)
	// advice matches the messages of ptxas about code that it must slow down to keep it
	// correct: wgmma that it cannot overlap with the next one, and ignored setmaxnreg.
	advice = regexp.MustCompile(`(?i).*(\(C\d+\)|potential performance loss|setmaxnreg|warning).*`)
)

// TestAssemble compares the resources that ptxas reports for each kernel with the table in
// testdata: registers per thread, bytes of static shared memory, and bytes of local memory,
// which is slow and so must be 0 except where the table allows it. ptxas must give no
// advice.
func TestAssemble(t *testing.T) {
	if testing.Short() {
		t.Skip("runs ptxas for 30 s")
	}
	ptxas := assembler(t)
	version, err := exec.Command(ptxas, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Glob("*.ptx")
	if err != nil || len(modules) == 0 {
		t.Fatalf("no PTX: %v", err)
	}
	rows := make([][]string, len(modules)) // rows of the table
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, module := range modules {
		group.Go(func() error {
			for _, target := range targets(module) {
				out, err := exec.CommandContext(t.Context(), ptxas, "-v", "-arch="+target, "-o", filepath.Join(t.TempDir(), "cubin"), module).CombinedOutput()
				if err != nil {
					return fmt.Errorf("ptxas -arch=%s %s: %w\n%s", target, module, err, out)
				}
				for _, words := range advice.FindAllString(string(out), -1) {
					t.Errorf("ptxas -arch=%s %s: %s", target, module, words)
				}
				rows[i] = append(rows[i], assembled(t, target, string(out))...)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	table := fmt.Sprintf("%-32s target  registers  shared  local  spills\n%s", "entry", strings.Join(slices.Concat(rows...), ""))
	if !strings.Contains(string(version), "V12.9.86") {
		testenv.Missing(t, "the table was made with ptxas 12.9.86; installed is\n%s", version)
	}
	golden.Check(t, "registers.txt", []byte(table))
}

// assembled returns the rows of the table for the output of ptxas, sorted by entry.
func assembled(t *testing.T, target, told string) []string {
	var out []string
	found := functionPattern.FindAllStringSubmatch(told, -1)
	slices.SortFunc(found, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	for _, r := range found {
		shared := "0"
		if m := sharedPattern.FindStringSubmatch(r[6]); m != nil {
			shared = m[1]
		}
		local, spills := number(t, r[2]), number(t, r[3])+number(t, r[4])
		out = append(out, fmt.Sprintf("%-32s %-7s %9s  %6s  %5d  %6d\n", r[1], target, r[5], shared, local, spills))
		if allowed := localAllowed[r[1]]; max(local, spills) > allowed {
			t.Errorf("%s for %s has %d bytes of local memory and %d of spills, %d are allowed", r[1], target, local, spills, allowed)
		}
	}
	return out
}

// targets returns the architectures that a module is for.
func targets(module string) []string {
	switch {
	case strings.Contains(module, "_sm90."):
		return []string{"sm_90a"}
	case strings.Contains(module, "_sm89."):
		return []string{"sm_89", "sm_90", "sm_90a"}
	}
	return []string{"sm_80", "sm_90", "sm_90a"}
}

// localAllowed is the bytes of local memory and of spills allowed for an entry that is
// short of registers. They occur on sm_80 only, except where noted.
var localAllowed = map[string]int{
	"attention_keys_f32": 48, "attention_queries_f32": 48,
	"gemm128_nt_f32": 32, "gemm128_tn_f32": 32,
	"matmul8_128_e4m3_sm89": 132, "matmul8_128_e5m2_sm89": 132, // on 9.0, where wgmma8 is used instead
	"matmul128_nt_bf16": 16, "matmul128_tt_bf16": 16, "matmul128_nt_f16": 16, "matmul128_tt_f16": 16,
}
