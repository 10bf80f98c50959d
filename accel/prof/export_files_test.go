package prof_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/display"
)

// TestSaveKeeps checks that an existing file remains if it cannot be replaced.
func TestSaveKeeps(t *testing.T) {
	r := measured(t)
	folder := filepath.Join(t.TempDir(), "a.json")
	if err := os.MkdirAll(filepath.Join(folder, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{r.Save(folder), r.SavePprof(folder), r.Save(filepath.Join(folder, "missing", "a.json"))} {
		if err == nil {
			t.Error("saved over a folder")
		}
	}
	if files, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(files) != 1 {
		t.Errorf("%v is left, %v", files, err)
	}
}

func TestTable(t *testing.T) {
	r := measured(t)
	for _, by := range []prof.SortBy{prof.SelfCPU, prof.CPUTotal, prof.SelfCUDA, prof.CUDATotal, prof.Calls, prof.Memory} {
		table := r.Table(by, 5)
		if len(table.Rows) != 5 {
			t.Errorf("by %s: %d rows", by, len(table.Rows))
		}
		text := table.String()
		for _, want := range []string{"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "CPU Mem", "# of Calls", "Input Shapes", "more rows"} {
			if !strings.Contains(text, want) {
				t.Errorf("by %s: %q is missing in\n%s", by, want, text)
			}
		}
		if strings.Contains(text, "CUDA") {
			t.Errorf("columns of a device that there is not:\n%s", text)
		}
	}
	rows := r.Table(prof.Calls, 0).Rows
	if !slices.IsSortedFunc(rows, func(a, b prof.Row) int { return b.Calls - a.Calls }) {
		t.Errorf("not sorted: %v", rows)
	}
}

// The trace has the fields of the Trace Event Format and of Kineto, and each op is within its
// step.
func TestTrace(t *testing.T) {
	r := measured(t)
	folder := t.TempDir()
	plain, zipped := filepath.Join(folder, "a.trace.json"), filepath.Join(folder, "a.trace.json.gz")
	if err := errors.Join(r.Save(plain), r.Save(zipped)); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(zipped)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := io.ReadAll(unzipped); err != nil || !bytes.Equal(again, raw) {
		t.Errorf("the zipped trace differs: %v", err)
	}
	var trace struct {
		SchemaVersion       *int
		DeviceProperties    []any
		DisplayTimeUnit     string
		BaseTimeNanoseconds int64
		TraceEvents         []struct {
			Ph, Cat, Name string
			PID, TID      *int
			Ts, Dur       *float64
			Args          map[string]any
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&trace); err != nil {
		t.Fatal(err)
	}
	if trace.SchemaVersion == nil || trace.DeviceProperties == nil || trace.DisplayTimeUnit != "ms" || trace.BaseTimeNanoseconds == 0 {
		t.Errorf("the fields around the events: %.200s", raw)
	}
	type stretch struct{ from, to float64 }
	var steps, ops []stretch
	kinds := map[string]int{}
	rows := map[[2]int]bool{}
	for _, e := range trace.TraceEvents {
		kinds[e.Ph]++
		if e.Name == "" || e.PID == nil || e.TID == nil || e.Ts == nil || *e.Ts < 0 {
			t.Fatalf("an event lacks something: %+v", e)
		}
		switch e.Ph {
		case "M":
			if name, _ := e.Args["name"].(string); name == "" || e.Name != "process_name" && e.Name != "thread_name" {
				t.Errorf("metadata %+v", e)
			}
			rows[[2]int{*e.PID, *e.TID}] = true
		case "X":
			if e.Dur == nil || *e.Dur < 0 || e.Cat == "" || !rows[[2]int{*e.PID, *e.TID}] {
				t.Errorf("event %+v", e)
			}
			if strings.HasPrefix(e.Name, "ProfilerStep#") {
				steps = append(steps, stretch{*e.Ts, *e.Ts + *e.Dur})
			} else if e.Args["layer"] != nil {
				ops = append(ops, stretch{*e.Ts, *e.Ts + *e.Dur})
			}
		case "C":
			for name, v := range e.Args {
				if _, ok := v.(float64); !ok {
					t.Errorf("counter %s is %v", name, v)
				}
			}
		default:
			t.Errorf("an event of kind %q", e.Ph)
		}
	}
	if len(steps) != len(r.Steps) || len(ops) != len(r.Ops) || kinds["C"] == 0 {
		t.Errorf("%d steps, %d ops, %v", len(steps), len(ops), kinds)
	}
	const slack = 0.002 // of a microsecond, rounded
	for _, o := range ops {
		if !slices.ContainsFunc(steps, func(s stretch) bool { return s.from-slack <= o.from && o.to <= s.to+slack }) {
			t.Errorf("%v lies in none of %v", o, steps)
		}
	}
	if err := r.Save(filepath.Join(folder, "a.txt")); err == nil {
		t.Error("a trace in a .txt")
	}
	if err := r.Save(filepath.Join(folder, "no", "a.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

func TestPprof(t *testing.T) {
	r := measured(t)
	path := filepath.Join(t.TempDir(), "step.pprof")
	if err := r.SavePprof(path); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p, err := profile.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	sum, labeled := int64(0), false
	for _, s := range p.Sample {
		sum += s.Value[3]
		labeled = labeled || slices.Contains(s.Label["layer"], "1 Dense(48)") && slices.Contains(s.Label["phase"], "backward") && len(s.Label["op"]) == 1
	}
	if total := int64(len(r.Steps)) * r.StepTime().Nanoseconds(); math.Abs(float64(sum)/float64(total)-1) > 0.01 || !labeled {
		t.Errorf("%d ns of %d, labeled %v", sum, total, labeled)
	}
}

func TestShows(t *testing.T) {
	r := measured(t)
	bundle, _ := display.Render(r)
	page, text := bundle["text/html"].(string), bundle["text/plain"].(string)
	for _, want := range []string{"a step, mean of 5, on cpu", "Self CPU", "1 Dense(48)"} {
		if !strings.Contains(page, want) || !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
	if strings.Count(page, "<img class=\"quern-figure\"") < 2 {
		t.Error("the figures are not shown")
	}
	if c := r.Ceilings(); !(c.FLOPs > 1e8) || !(c.Bytes > 1e8) {
		t.Errorf("%+v", c)
	}
	if svg := r.Roofline().SVG(); !strings.Contains(svg, "Dense(48)") {
		t.Error("the roofline has no layer in it")
	}
}
