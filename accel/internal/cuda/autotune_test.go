package cuda

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
)

// selected returns the candidate that a new device selects. The library's plans take the
// given milliseconds, our own kernels take 10.
func selected(t *testing.T, file string, refuses bool, takes ...time.Duration) (name string, library *fakelib.CuBLASLt) {
	t.Helper()
	gpu, err := fake.Open(fake.Options{Modules: modules, Instant: true, KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return 10 * time.Millisecond }})
	if err != nil {
		t.Fatal(err)
	}
	l := &fakelib.CuBLASLt{Takes: func(_ cublaslt.Matmul, number int) time.Duration { return takes[number] * time.Millisecond }, Refuses: map[string]bool{"cublasLtMatmul": refuses}}
	d, err := Open("cuda:0", gpu, 0, Libraries{Autotune: true, TuningCache: file, CuBLASLt: func(ctx driver.Context) (cublaslt.Library, error) {
		l.Context = ctx.(fake.FuncLauncher)
		return l, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Compile(matMulStep(5, 6, 7))
	if err != nil {
		t.Fatal(err)
	}
	c := x.(*program).steps[0].(*selection)
	name = c.name(c.selected)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	return name, l
}

// A measurement holds in later processes, even if another candidate is faster by then.
func TestSelectionsAreSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache", "algorithms.json")
	if name, l := selected(t, file, false, 3, 2, 4); name != "2 cuBLASLt 1" || l.Runs < 6 {
		t.Errorf("%s after %d runs", name, l.Runs)
	}
	if name, l := selected(t, file, false, 1, 5, 4); name != "2 cuBLASLt 1" || l.Runs != 2 { // one launch, one capture
		t.Errorf("%s after %d runs", name, l.Runs)
	}
	if name, _ := selected(t, "", false, 1, 5, 4); name != "1 cuBLASLt 0" {
		t.Errorf("without a file: %s", name)
	}
	// A selected plan that does not work any more is measured again.
	if name, _ := selected(t, file, true, 1, 5, 4); name != "0 own kernel" {
		t.Errorf("a library that fails: %s", name)
	}
	if name, _ := selected(t, file, false, 1, 5, 4); name != "0 own kernel" {
		t.Errorf("the selection of own kernels is not saved: %s", name)
	}
	for _, text := range []string{"", "{", "[1]", `{"a": 3}`, "null"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if name, _ := selected(t, file, false, 9, 8, 7); name != "3 cuBLASLt 2" {
			t.Errorf("after %q: %s", text, name)
		}
		if name, _ := selected(t, file, false, 1, 8, 7); name != "3 cuBLASLt 2" {
			t.Errorf("%q was not replaced: %s", text, name)
		}
	}
	// A plan that the library does not have any more.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "3 cuBLASLt 2", "9 cuBLASLt 8")), 0o600); err != nil {
		t.Fatal(err)
	}
	if name, _ := selected(t, file, false, 1, 8, 7); name != "1 cuBLASLt 0" {
		t.Errorf("a name that does not exist: %s", name)
	}
}

// A folder that cannot be written is no error.
func TestSelectionsThatCannotBeSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if name, _ := selected(t, filepath.Join(file, "algorithms.json"), false, 1, 2, 3); name != "1 cuBLASLt 0" {
		t.Error(name)
	}
}

// Several processes write one file: none of their entries damages it.
func TestSelectionsOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "algorithms.json")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c := openTuningCache(file, "GPU")
			for j := range 10 {
				c.put(10*i+j, "0 own kernel")
				c.save()
			}
		})
	}
	all.Wait()
	c := openTuningCache(file, "GPU")
	if len(c.known) < 10 {
		t.Errorf("%d entries", len(c.known))
	}
	for j := range 8 {
		if got := c.get(10 * j); got != "" && got != "0 own kernel" {
			t.Errorf("step %d: selected %q", j, got)
		}
	}
	left, err := filepath.Glob(file + ".*")
	if err != nil || len(left) != 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
	if other := openTuningCache(file, "another GPU"); len(other.known) == 0 {
		t.Error("the file cannot be read")
	} else if name := other.get(0); name != "" {
		t.Errorf("the selection %q of another GPU is used", name)
	}
}
