package main

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func TestUnknownDevice(t *testing.T) {
	if err := run(t.Context(), options{device: "abacus", only: "first", budget: time.Minute, result: os.DevNull}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("got %v", err)
	}
}

// A wrong op must be seen.
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

// What go test prints becomes the innermost tests with their results.
func TestReadTests(t *testing.T) {
	var r report
	var out bytes.Buffer
	r.readTests(bufio.NewScanner(strings.NewReader(`=== RUN   TestSum
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
FAIL
`)), &out)
	want := []tested{
		{"TestSum/float32", "FAIL", "sum_test.go:9: element 3 is 1, want 2"}, {"TestSum/float64", "PASS", ""},
		{"TestWgmma", "SKIP", "device_test.go:1: needs compute capability 9.0"}, {"TestMax", "PASS", ""},
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
