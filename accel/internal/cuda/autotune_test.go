package cuda

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
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
	for _, text := range []string{"", "{", "[1]", `{"a": 3}`, `{"a": "1 cuBLASLt 0"}`, "null"} {
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
				c.put(10*i+j, tuned{Selected: "0 own kernel"})
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
		if got := c.get(10 * j).Selected; got != "" && got != "0 own kernel" {
			t.Errorf("step %d: selected %q", j, got)
		}
	}
	left, err := filepath.Glob(file + ".*")
	if err != nil || len(left) != 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
	if other := openTuningCache(file, "another GPU"); len(other.known) == 0 {
		t.Error("the file cannot be read")
	} else if name := other.get(0).Selected; name != "" {
		t.Errorf("the selection %q of another GPU is used", name)
	}
}

// The file has the time of every candidate, for a report.
func TestTimesAreSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "algorithms.json")
	if name, _ := selected(t, file, false, 3, 2, 4); name != "2 cuBLASLt 1" {
		t.Fatal(name)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]tuned
	if err := json.Unmarshal(text, &all); err != nil || len(all) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	want := tuned{"MatMul [5 7] [7 6] → [5 6]", "2 cuBLASLt 1", []candidateTime{{"0 own kernel", 10, ""}, {"1 cuBLASLt 0", 3, ""}, {"2 cuBLASLt 1", 2, ""}, {"3 cuBLASLt 2", 4, ""}}}
	for _, got := range all {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if name, _ := selected(t, file, true, 1, 5, 4); name != "0 own kernel" {
		t.Fatal(name)
	}
	if text, err = os.ReadFile(file); err != nil || strings.Count(string(text), `"rejected": "MatMul [5 7] [7 6] → [5 6]: cuBLASLt: cublasLtMatmul`) != 3 {
		t.Errorf("%v: rejected candidates have no reason\n%s", err, text)
	}
}

// Candidates run in interleaved rounds, and only after all of them have run once: the clocks
// of an idle GPU are low.
func TestCandidatesAreInterleaved(t *testing.T) {
	l := &fakelib.CuBLASLt{Takes: func(cublaslt.Matmul, int) time.Duration { return time.Millisecond }}
	var order []int
	l.DropsNaN = func(number int) bool { // called when a plan runs
		order = append(order, number)
		return false
	}
	d := deviceWith(t, l, fake.Options{Instant: true, KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return time.Millisecond }}, true)
	if _, err := d.Compile(matMulStep(5, 6, 7)); err != nil {
		t.Fatal(err)
	}
	if want := 3 * (2 + rounds); len(order) != want { // when it is tried, for the number of runs, and in the rounds
		t.Errorf("%d runs, want %d", len(order), want)
	}
	for i, number := range order {
		if number != i%3 {
			t.Fatalf("not interleaved: %v", order)
		}
	}
	if d.warmed.IsZero() {
		t.Error("the GPU is not warm")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// Candidates are timed on random values, in all of the memory and of every type.
func TestRandomData(t *testing.T) {
	_, d := openFake(t)
	for _, row := range []struct {
		t      ir.DType
		offset int
		finite func(b []byte) (value float64, bytes int)
	}{
		{ir.Float64, 0, func(b []byte) (float64, int) { return math.Float64frombits(binary.LittleEndian.Uint64(b)), 8 }},
		{ir.Float32, 0, func(b []byte) (float64, int) {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 4
		}},
		{ir.Float16, 0, func(b []byte) (float64, int) {
			return float64(tensortype.Float16Value(binary.LittleEndian.Uint16(b))), 2
		}},
		{ir.BFloat16, 0, func(b []byte) (float64, int) {
			return float64(tensortype.BFloat16Value(binary.LittleEndian.Uint16(b))), 2
		}},
		{ir.Float8E4M3, 64, func(b []byte) (float64, int) { return float64(tensortype.Float8Value(ir.Float8E4M3, b[0])), 1 }},
		{ir.Float8E5M2, 64, func(b []byte) (float64, int) { return float64(tensortype.Float8Value(ir.Float8E5M2, b[0])), 1 }},
	} {
		for _, bytes := range []int{256, randomBlock, 2*randomBlock + 768} {
			s, err := d.Alloc(bytes)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.fillRandom(s.(*storage).at, bytes, ir.Operand{DType: row.t, Layout: ir.Layout{Offset: row.offset}}); err != nil {
				t.Fatal(err)
			}
			if err := d.mark(s.(*storage)); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, bytes)
			if err := d.Read(b, s, 0); err != nil {
				t.Fatal(err)
			}
			for at := 0; at < row.offset; at += 4 {
				if scale := math.Float32frombits(binary.LittleEndian.Uint32(b[at:])); scale != 1 {
					t.Errorf("%v: the scale is %g", row.t, scale)
				}
			}
			values := map[float64]bool{}
			for b = b[row.offset:]; len(b) > 0; {
				v, n := row.finite(b)
				if !(math.Abs(v) <= 1) {
					t.Fatalf("%v: %g", row.t, v)
				}
				values[v] = true
				b = b[n:]
			}
			if len(values) < 20 {
				t.Errorf("%v, %d bytes: %d different values", row.t, bytes, len(values))
			}
			d.Free(s)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
