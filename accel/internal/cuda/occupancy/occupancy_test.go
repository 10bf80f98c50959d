package occupancy

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestCalculator compares with testdata/occupancy.json, which testdata/make_golden.cpp writes with NVIDIA's cuda_occupancy.h.
func TestCalculator(t *testing.T) {
	text, err := os.ReadFile("testdata/occupancy.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][6]int // compute capability, threads, registers, shared memory; blocks, what limits them
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) < 500 {
		t.Fatal(len(rows), err)
	}
	bits := map[Resource]int{Warps: 1, Registers: 2, Shared: 4, Blocks: 8}
	seen := map[Resource]bool{}
	for _, row := range rows {
		l, ok := Of(row[0])
		if !ok {
			t.Fatalf("compute capability %d is not known", row[0])
		}
		got, err := Compute(l, Kernel{Threads: row[1], Registers: row[2], Shared: row[3]})
		if err != nil {
			t.Fatal(err)
		}
		limits := 0
		for _, by := range got.LimitedBy {
			limits |= bits[by]
			seen[by] = true
		}
		if got.Blocks != row[4] || limits != row[5] {
			t.Errorf("%v: %d blocks, limited by %v", row, got.Blocks, got.LimitedBy)
		}
	}
	if len(seen) != len(bits) {
		t.Errorf("the rows are limited by %v only", seen)
	}
}

// The values that NVIDIA's documentation names.
func TestDocumented(t *testing.T) {
	volta := Limits{Warps: 64, Blocks: 32, Registers: 64 << 10, Shared: 96 << 10} // compute capability 7.0, CUDA C++ Best Practices Guide
	for _, c := range []struct {
		name    string
		limits  Limits
		kernel  Kernel
		blocks  int
		percent float64
		by      []Resource
	}{
		{"37 registers, 128 threads", volta, Kernel{Threads: 128, Registers: 37}, 12, 75, []Resource{Registers}},
		{"37 registers, 320 threads", volta, Kernel{Threads: 320, Registers: 37}, 4, 62.5, []Resource{Registers}},
		{"registers are not known", volta, Kernel{Threads: 1024}, 2, 100, []Resource{Warps}},
		{"more registers than there are", volta, Kernel{Threads: 1024, Registers: 255}, 0, 0, []Resource{Registers}},
	} {
		got, err := Compute(c.limits, c.kernel)
		if err != nil || got.Blocks != c.blocks || 100*got.Fraction() != c.percent || !slices.Equal(got.LimitedBy, c.by) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestInvalid(t *testing.T) {
	l, _ := Of(90)
	for _, k := range []Kernel{{}, {Threads: 1025}, {Threads: 32, Registers: 256}, {Threads: 32, Shared: -1}, {Threads: -32}} {
		if got, err := Compute(l, k); err == nil {
			t.Errorf("%+v: %+v", k, got)
		}
	}
	if _, ok := Of(75); ok {
		t.Error("the formula is that of 8.0 and later")
	}
}
