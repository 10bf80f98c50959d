package kernels

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/internal/testenv"
)

// TestBuilt compares the sources and the PTX with the checksums that build.sh wrote.
func TestBuilt(t *testing.T) {
	text, err := os.ReadFile("testdata/built.txt")
	if err != nil {
		t.Fatal(err)
	}
	rest := filesNamed(t, "*.ptx.gz")
	for line := range strings.Lines(string(text)) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		made := filesNamed(t, name+"_*.ptx.gz")
		sum := sha256.New()
		for _, file := range slices.Concat([]string{"build.sh"}, filesNamed(t, "*.h"), []string{name + ".cu"}, made) {
			sum.Write(read(t, file))
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != want {
			t.Errorf("the PTX of %s.cu does not match its source: run go generate", name)
		}
		rest = slices.DeleteFunc(rest, func(file string) bool { return slices.Contains(made, file) })
	}
	if len(rest) > 0 {
		t.Errorf("no source of these files is in built.txt: %v; run go generate", rest)
	}
	if sources := filesNamed(t, "*.cu"); len(sources) != strings.Count(string(text), "\n") {
		t.Errorf("built.txt has not all of %v: run go generate", sources)
	}
}

func filesNamed(t *testing.T, pattern string) []string {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	return files
}

// read returns a file, a compressed one as text.
func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil && strings.HasSuffix(name, ".gz") {
		text, err = decompress(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRegenerate compiles all PTX again and compares.
func TestRegenerate(t *testing.T) {
	if os.Getenv("QUERN_LONG") == "" {
		t.Skip("runs clang for half a minute; TestBuilt has checksums, make ptx compiles again")
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
	made := filesNamed(t, filepath.Join(dir, "*.ptx.gz"))
	for i, name := range made {
		made[i] = filepath.Base(name)
		if !bytes.Equal(read(t, made[i]), read(t, name)) {
			t.Errorf("%s does not match its source: run go generate", made[i])
		}
	}
	if here := filesNamed(t, "*.ptx.gz"); !slices.Equal(here, made) {
		t.Errorf("the files are %v, the sources compile to %v", here, made)
	}
}

// assembler finds ptxas on PATH, or in an environment of Python that has the
// package nvidia-cuda-nvcc-cu12.
func assembler(t *testing.T) string {
	var paths []string
	if path, err := exec.LookPath("ptxas"); err == nil {
		paths = append(paths, path)
	}
	for _, venv := range []string{os.Getenv("VIRTUAL_ENV"), "../../../../.venv"} {
		found, err := filepath.Glob(filepath.Join(venv, "lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))
		if err == nil && venv != "" {
			paths = append(paths, found...)
		}
	}
	for _, path := range paths {
		if version, err := exec.Command(path, "--version").Output(); err == nil && strings.Contains(string(version), "V12.9.86") {
			return path
		}
	}
	testenv.Missing(t, "ptxas 12.9.86 is not installed (pip install nvidia-cuda-nvcc-cu12==12.9.86), so the PTX cannot be assembled; found %q", paths)
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
// advice. The table has the checksum of each module: one that has not changed is assembled
// only with QUERN_LONG, and the table is written only if all is well.
func TestAssemble(t *testing.T) {
	known := map[string]string{} // rows by module and checksum
	if text, err := os.ReadFile("testdata/registers.txt"); err == nil && os.Getenv("QUERN_LONG") == "" {
		_, body, _ := strings.Cut(string(text), "\n")
		for part := range strings.SplitSeq(body, "# ") {
			head, rows, _ := strings.Cut(part, "\n")
			known[head] = rows
		}
	}
	modules := filesNamed(t, "*.ptx.gz")
	rows := make([]string, len(modules)) // rows of the table
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	ptxas := sync.OnceValue(func() string { return assembler(t) })
	for i, file := range modules {
		text, module := read(t, file), strings.TrimSuffix(file, ".gz")
		head := fmt.Sprintf("%s %x", module, sha256.Sum256(text))
		old, ok := known[head]
		if rows[i] = "# " + head + "\n" + old; ok {
			continue
		}
		path := ptxas() // here, since it may end the test
		group.Go(func() error {
			source := filepath.Join(t.TempDir(), module)
			if err := os.WriteFile(source, text, 0o600); err != nil {
				return err
			}
			for _, target := range targets(module) {
				out, err := exec.CommandContext(t.Context(), path, "-v", "-arch="+target, "-o", filepath.Join(t.TempDir(), "cubin"), source).CombinedOutput()
				if err != nil {
					return fmt.Errorf("ptxas -arch=%s %s: %w\n%s", target, module, err, out)
				}
				for _, words := range advice.FindAllString(string(out), -1) {
					t.Errorf("ptxas -arch=%s %s: %s", target, module, words)
				}
				rows[i] += strings.Join(assembled(t, target, string(out)), "")
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		return
	}
	golden.Check(t, "registers.txt", fmt.Appendf(nil, "%-32s target  registers  shared  local  spills\n%s", "entry", strings.Join(rows, "")))
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
	"gemm128_nn_f32":        8,
	"matmul8_128_e4m3_sm89": 132, "matmul8_128_e5m2_sm89": 132, // on 9.0, where wgmma8 is used instead
	"norm_gradient_held_f32": 160, // also on 9.0: two blocks on an SM are worth more
}
