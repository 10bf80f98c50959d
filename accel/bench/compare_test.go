package main

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// oneBench returns a result with one benchmark.
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
	here, there := machine{CPU: "a processor", Cores: 2, System: "linux/amd64"}, machine{CPU: "another", Cores: 2, System: "linux/amd64"}
	made := func(m machine, date, bench string, median float64) result {
		return result{Date: date, Machine: m, Versions: map[string]string{"go": "1"}, Figures: map[string]figure{bench: {Times: map[string]times{"quern-2": {Median: median}}}}}
	}
	// add stores a run of the benchmarks of r beside those that are stored already.
	add := func(r result) (err error) {
		if r.last, err = lastResult(folder, r.Machine); err != nil {
			t.Fatal(err)
		}
		return errors.Join(r.keep(sortedKeys(r.Figures)), r.save(folder))
	}
	for _, r := range []result{made(here, "2026-01-02", "mlp", 1), made(here, "2026-01-03", "cnn", 2), made(there, "2027-01-01", "mlp", 4)} {
		if err := add(r); err != nil {
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
	newer := made(here, "2028-01-01", "mlp", 1)
	newer.Versions, newer.last = map[string]string{"go": "2"}, last
	if err := newer.keep([]string{"mlp"}); err == nil || !strings.Contains(err.Error(), "other versions: measure all benchmarks") {
		t.Errorf("one of two benchmarks with another version: %v", err)
	}
	if err := newer.keep([]string{"mlp", "cnn"}); err != nil || len(newer.Figures) != 1 {
		t.Errorf("all benchmarks with another version: %v, %v", newer.Figures, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "a-processor-2-cores-linux-amd64.json")); err != nil {
		t.Error(err)
	}
}

func TestDisagreements(t *testing.T) {
	for _, row := range []struct {
		name string
		in   map[string][]float64
		want map[string]string
	}{
		{"equal", map[string][]float64{"quern-2": {2, 1}, "jax-2": {2, 1}}, nil},
		{"near", map[string][]float64{"quern-2": {2, 1}, "jax-2": {2.001, 1.05}}, nil},
		{"first step off", map[string][]float64{"quern-2": {2, 1}, "jax-2": {2.01, 1}},
			map[string]string{"jax-2": "the loss of step 1 is 2.01, that of quern-2 is 2"}},
		{"later off", map[string][]float64{"quern-2": {2, 1}, "jax-2": {2, 1.2}, "torch-2-eager": {2, 1}},
			map[string]string{"jax-2": "the loss of step 2 is 1.2, that of quern-2 is 1"}},
		{"NaN", map[string][]float64{"quern-2": {2, 1}, "jax-2": {2, math.NaN()}},
			map[string]string{"jax-2": "the loss of step 2 is NaN, that of quern-2 is 1"}},
		{"missing", map[string][]float64{"quern-2": {2, 1}, "jax-2": {2}},
			map[string]string{"jax-2": "it returned 1 losses, quern-2 returned 2"}},
		{"none", nil, nil},
		{"without Quern", map[string][]float64{"jax-2": {2, 1}, "torch-2-eager": {3, 1}},
			map[string]string{"torch-2-eager": "the loss of step 1 is 3, that of jax-2 is 2"}},
	} {
		got := map[string]string{}
		if disagreements(row.in, firstTolerance, got); !maps.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
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
