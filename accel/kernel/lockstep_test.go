package kernel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// The CPU runs the threads of several blocks together. What they compute does not depend on it.
func TestShapes(t *testing.T) {
	shapes := []kernel.Shape{
		kernel.Grid(1, 1), kernel.Grid(100, 32), kernel.Grid(5000, 64), kernel.Grid(3000, 1024), kernel.Grid(90, 7), kernel.Grid2D(70, 20, 16, 4), kernel.Grid2D(33, 9, 1, 32),
		{Blocks: kernel.Dim{X: 5, Y: 2, Z: 3}, Threads: kernel.Dim{X: 4, Y: 4, Z: 2}},
		{Blocks: kernel.Dim{X: 3, Y: 2}, Threads: kernel.Dim{X: 5, Y: 3, Z: 2}},
		{Blocks: kernel.Dim{X: 40}, Threads: kernel.Dim{X: 8, Z: 8}},
	}
	for _, name := range []string{"positions", "rounds", "branches"} {
		for _, shape := range shapes {
			var want string
			for _, device := range devices {
				on(t, device, func() {
					out := tensor.Zeros(1 << 15).Cast(tensor.Int64)
					if err := compile(t, kernels, name).Launch(shape, out); err != nil {
						t.Fatal(name, shape, device, err)
					}
					got := string(out.Raw())
					if want == "" {
						want = got
					} else if got != want {
						t.Errorf("%s with %+v: the CPU and the simulated GPU differ", name, shape)
					}
				})
			}
		}
	}
}

// The fault is that of the first thread, if the threads run one after the other from barrier to barrier, also on a simulated GPU and in Check.
func TestFirstFault(t *testing.T) {
	for _, c := range []struct {
		body          string
		block, thread int
		reason        string
	}{
		{"i := t.Global(); if i >= 20 { x[100+i] = 1 }; if i >= 10 { panic(\"ten\") }", 0, 10, "panic: ten"},
		{"i := t.Global(); if i%7 == 6 { panic(\"six\") }; x[i+1000] = 1", 0, 0, "index 1000 is out of range of x with length 500"},
		{"if t.BlockX() == 3 { panic(\"three\") }; t.Sync(); if t.BlockX() >= 1 && t.ThreadX() == 5 { panic(\"one\") }", 1, 5, "panic: one"},
		{"if t.ThreadX() == 9 { panic(\"nine\") }; t.Sync(); if t.ThreadX() == 5 { panic(\"five\") }", 0, 9, "panic: nine"},
		{"if t.ThreadX() == 40 { panic(\"forty\") }; _ = t.Any(true); if t.ThreadX() == 33 { panic(\"later\") }; if t.ThreadX() == 3 { panic(\"three\") }", 0, 3, "panic: three"},
		{"for n := 0; ; n++ { if n == 5 && t.ThreadX() == 9 || n == 8 && t.ThreadX() == 4 { panic(\"loop\") } }", 0, 4, "panic: loop"},
		{"for { if t.ThreadX() == 9 { panic(\"waited for\") } }", 0, 9, "panic: waited for"},
		{"if t.BlockX() >= 2 { x[t.Global()-200] = 1 }; if t.BlockX() == 6 && t.ThreadX() < 3 { t.Sync() }", 2, 0, "index -72 is out of range of x with length 500"},
		{"if t.ThreadX() == 7 { x[-1-t.ThreadX()] = 1 }; if t.ThreadX() == 3 { n[0] = 1 / int32(t.BlockX()) }", 0, 3, "integer divide by zero"},
		{"if t.ThreadX() == 40 { panic(\"forty\") }; if t.ThreadX() == 33 { for range 100 { x[t.Global()]++ }; panic(\"33\") }", 0, 33, "panic: 33"},
		{"if t.BlockX() == 2 { panic(\"two\") }; if t.BlockX() == 1 && t.ThreadX() > 20 { for range 1000 { x[t.Global()]++ }; panic(\"one\") }", 1, 21, "panic: one"},
	} {
		k := compile(t, file(c.body), "k")
		args := func() []any { return []any{float32(1), tensor.Zeros(500), tensor.Zeros(1).Cast(tensor.Int32)} }
		found := func(by string, err error) {
			t.Helper()
			var f *kernel.Fault
			if !errors.As(err, &f) || f.Block[0] != c.block || f.Thread[0] != c.thread || f.Reason != c.reason || f.Line != 10 {
				t.Errorf("%s: %s\nwant block %d, thread %d: %s\ngot  %v", by, c.body, c.block, c.thread, c.reason, err)
			}
		}
		if found("cpu", k.Launch(kernel.Grid(500, 64), args()...)); strings.HasPrefix(c.body, "for ") {
			continue // on a GPU the other threads wait for ever
		}
		on(t, "simulated", func() { found("simulated", k.Launch(kernel.Grid(500, 64), args()...)) })
		if _, err := kernel.Check(k, kernel.Grid(500, 64), args()...); !strings.Contains(fmt.Sprint(err), ": race ") { // found before
			found("Check", err)
		}
	}
}

// A barrier that some threads of one block do not reach is found among blocks that run together and reach different ones.
func TestBarriersOfGroups(t *testing.T) {
	k := compile(t, file("for n := 0; n < t.BlockX(); n++ { t.Sync() }; if t.BlockX() == 5 && t.ThreadX() < 7 { return }; if t.BlockX() != 4 || t.ThreadX() > 2 { t.Sync() }"), "k")
	err := k.Launch(kernel.Grid(500, 64), float32(1), tensor.Zeros(1), tensor.Zeros(1).Cast(tensor.Int32))
	if want := "kernel k: kernel.go:10: 61 threads of the block are at this barrier, of 64 that have not returned: not all threads call Sync, in thread [3 0 0] of block [4 0 0]"; fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A sum of floats by atomic additions is the same in each run, although blocks run in parallel; rounding depends on the order.
func TestAtomicSumsRepeat(t *testing.T) {
	x := make([]float32, 100_000)
	for i := range x {
		x[i] = 1 / float32(i+1)
	}
	k := compile(t, file("if i := t.Global(); i < len(x) { kernel.AtomicAdd(&n[i%3], 1); if i != 7 { kernel.AtomicMax(&n[3], int32(i)) } }"), "k")
	sum := compile(t, kernels, "sum")
	var want string
	for range 20 {
		n, total := tensor.Zeros(4).Cast(tensor.Int32), tensor.Zeros(1)
		if err := errors.Join(k.Launch(kernel.Grid(len(x), 96), float32(1), tensor.New(x, len(x)), n), sum.Launch(kernel.Grid(len(x), 256), tensor.New(x, len(x)), total)); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(n.Float64s(), total.Data())
		if want == "" {
			want = got
		}
		if got != want || n.Float64s()[0] != 33334 || n.Float64s()[1] != 33333 || n.Float64s()[3] != 99999 {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// A kernel can be launched again after a fault, also with another number of blocks.
func TestLaunchAfterFault(t *testing.T) {
	k := compile(t, file("for r := 0; r < 5; r++ { if r == int(a) && t.ThreadX()%3 == 1 { panic(\"now\") }; if t.ThreadX()%2 == 0 { continue }; x[t.Global()]++ }"), "k")
	n := tensor.Zeros(1).Cast(tensor.Int32)
	for _, blocks := range []int{1, 3, 40, 3} {
		for _, a := range []float32{9, 2, 9} {
			x := tensor.Zeros(64 * blocks)
			err := k.Launch(kernel.Grid(64*blocks, 64), a, x, n)
			if (err != nil) != (a == 2) || a == 9 && x.Sum().Item() != float64(32*blocks*5) {
				t.Errorf("%d blocks, %v: %v, sum %v", blocks, a, err, x.Sum().Item())
			}
		}
	}
}

// Runs follow each other in any order of group sizes.
func TestLaunchesOfAllLengths(t *testing.T) {
	sum := compile(t, kernels, "sum")
	for i := range 60 {
		n := 256 * (1 + i*7%23)
		total := tensor.Zeros(1)
		if err := sum.Launch(kernel.Grid(n, 256), tensor.Ones(n), total); err != nil || total.Item() != float64(n) {
			t.Fatalf("%d elements: %v, sum %v", n, err, total.Item())
		}
	}
}
