package main

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// run returns a result with one benchmark.
func oneBench(peak float64, medians map[string]float64) result {
	f := figure{Times: map[string]times{}, Peak: map[string]float64{"quern-2": peak}}
	for key, m := range medians {
		f.Times[key] = times{Median: m}
	}
	return result{Figures: map[string]figure{"mlp": f}}
}

func TestCompare(t *testing.T) {
	for _, row := range []struct {
		name        string
		before, now result
		want        []string // runners
	}{
		{"the same", oneBench(1, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-2": 1}), nil},
		{"faster", oneBench(1, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-2": 0.5}), nil},
		{"within ten percent", oneBench(1, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-2": 1.09}), nil},
		{"slower", oneBench(1, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-2": 1.11}), []string{"quern-2"}},
		{"no number", oneBench(1, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-2": math.NaN()}), []string{"quern-2"}},
		{"another's time", oneBench(1, map[string]float64{"torch-1-eager": 1}), oneBench(1, map[string]float64{"torch-1-eager": 9}), nil},
		{"a slower machine", oneBench(1.2, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-2": 1.3}), nil},
		{"a slower machine is no excuse for more", oneBench(1.2, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-2": 1.4}), []string{"quern-2"}},
		{"a faster machine asks for no more", oneBench(1, map[string]float64{"quern-2": 1}), oneBench(2, map[string]float64{"quern-2": 1}), nil},
		{"without a peak", oneBench(0, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-2": 2}), []string{"quern-2"}},
		{"new", result{}, oneBench(1, map[string]float64{"quern-2": 1}), nil},
		{"gone", oneBench(1, map[string]float64{"quern-2": 1}), result{}, nil},
		{"a new setting", oneBench(1, map[string]float64{"quern-2": 1}), oneBench(1, map[string]float64{"quern-1": 9}), nil},
		{"several", oneBench(1, map[string]float64{"quern-1": 1, "quern-2": 1}), oneBench(1, map[string]float64{"quern-2": 2, "quern-1": 2}), []string{"quern-1", "quern-2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, r := range compare(row.before, row.now) {
				if r.bench != "mlp" || r.String() == "" {
					t.Errorf("odd regression %+v", r)
				}
				got = append(got, r.runner)
			}
			if !reflect.DeepEqual(got, row.want) {
				t.Errorf("slower are %v, want %v", got, row.want)
			}
		})
	}
}

func TestKeepFaster(t *testing.T) {
	found := oneBench(2, map[string]float64{"quern-2": 2, "quern-1": 1})
	keepFaster(found, oneBench(3, map[string]float64{"quern-2": 1, "quern-1": 4}))
	f := found.Figures["mlp"]
	if f.Times["quern-2"].Median != 1 || f.Peak["quern-2"] != 3 || f.Times["quern-1"].Median != 1 {
		t.Errorf("got %+v", f)
	}
	names := benchesOf([]regression{{bench: "mlp", runner: "quern-1"}, {bench: "mlp", runner: "quern-2"}, {bench: "cnn"}})
	if !reflect.DeepEqual(names, []string{"mlp", "cnn"}) {
		t.Errorf("benches are %v", names)
	}
}

func TestSaveAndLast(t *testing.T) {
	folder := t.TempDir()
	here, there := machine{"a processor", 2, "linux/amd64"}, machine{"another", 2, "linux/amd64"}
	made := func(m machine, date, bench string, median float64) result {
		return result{Date: date, Machine: m, Versions: map[string]string{"go": "1"}, Figures: map[string]figure{bench: {Times: map[string]times{"quern-2": {Median: median}}}}}
	}
	path := func(name string) string { return filepath.Join(folder, name) }
	for _, s := range []struct {
		file string
		r    result
	}{{"b.json", made(here, "2026-01-02", "mlp", 1)}, {"b.json", made(here, "2026-01-03", "cnn", 2)}, {"a.json", made(here, "2026-01-01", "mlp", 3)}, {"z.json", made(there, "2027-01-01", "mlp", 4)}} {
		if err := save(path(s.file), s.r); err != nil {
			t.Fatal(err)
		}
	}
	last, err := lastResult(folder, here)
	if err != nil || last == nil {
		t.Fatal(last, err)
	}
	if last.Date != "2026-01-03" || len(last.Figures) != 2 || last.Figures["mlp"].Times["quern-2"].Median != 1 || last.Figures["cnn"].Times["quern-2"].Median != 2 {
		t.Errorf("the last run is %+v", last)
	}
	if none, err := lastResult(folder, machine{Cores: 3}); none != nil || err != nil {
		t.Errorf("a machine without runs has %v, %v", none, err)
	}
	if err := save(path("z.json"), made(here, "2028-01-01", "mlp", 1)); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("a file of another machine: %v", err)
	}
}

func TestAgree(t *testing.T) {
	for _, row := range []struct {
		name string
		in   map[string][]float64
		ok   bool
	}{
		{"equal", map[string][]float64{"a": {2, 1}, "b": {2, 1}}, true},
		{"near", map[string][]float64{"a": {2, 1}, "b": {2.001, 1.01}}, true},
		{"first step off", map[string][]float64{"a": {2, 1}, "b": {2.01, 1}}, false},
		{"later off", map[string][]float64{"a": {2, 1}, "b": {2, 1.1}}, false},
		{"NaN", map[string][]float64{"a": {2, 1}, "b": {2, math.NaN()}}, false},
		{"missing", map[string][]float64{"a": {2, 1}, "b": {2}}, false},
		{"none", nil, true},
	} {
		if _, err := agree(row.in); (err == nil) != row.ok {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestTimes(t *testing.T) {
	got := newTimes([]float64{5, 1, 2, 4, 3})
	if want := (times{Median: 3, Low: 2, High: 4, Best: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := newTimes([]float64{1, 2}).Median; got != 1.5 {
		t.Errorf("the median of two is %v", got)
	}
}
