package kernel_test

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

//go:embed testdata/threads.go
var threads string

// Threads that work together compute the same on all devices: in blocks that end within a warp, in grids with three axes, and in empty ones.
func TestThreads(t *testing.T) {
	zeros := func(d tensor.DType, n int) *tensor.Tensor { return tensor.Zeros(n).Cast(d) }
	lane := func(i, from int) int { // what a thread of a block of 40 reads from a lane: its own value if there is none
		if lanes := min(32, 40-i/32*32); from < 0 || from >= lanes {
			return 100 + i
		}
		return 100 + i/32*32 + from
	}
	for _, c := range []struct {
		name  string
		shape kernel.Shape
		args  func() []any // the last one is the result
		want  func(i int) float64
	}{
		{"partialShuffles", kernel.Grid(40, 40), func() []any { return []any{zeros(tensor.Int32, 40)} }, func(i int) float64 {
			l := i % 32
			return float64(lane(i, l+3) + 1000*lane(i, l-2) + 1_000_000*(lane(i, l^5)+lane(i, 6)+lane(i, 31)))
		}},
		{"partialVotes", kernel.Grid(40, 40), func() []any { return []any{zeros(tensor.Int64, 40)} }, func(i int) float64 {
			bits, n := 0, 2
			for k := i / 32 * 32; k < min(40, i/32*32+32); k++ {
				if k%3 == 0 {
					bits |= 1 << (k % 32)
				}
			}
			if i >= 32 {
				n = 1
			}
			if i == 32 {
				n += 4
			}
			return float64(bits<<8 + n)
		}},
		{"sharedStructs", kernel.Grid(128, 64), func() []any { return []any{tensor.Zeros(128)} }, func(i int) float64 {
			i %= 64
			next := (i + 1) % 64
			w := next
			if next%2 == 0 {
				w = -next
			}
			return float64(w + 2*next*1000 + 63 - i)
		}},
		{"earlyReturn", kernel.Grid(64, 64), func() []any { return []any{20, zeros(tensor.Int32, 64)} }, func(i int) float64 {
			switch {
			case i >= 20:
				return 0
			case i%2 == 0:
				return float64(i + 1)
			}
			return float64(i - 1 + 100)
		}},
		{"position", kernel.Shape{Blocks: kernel.Dim{X: 2, Y: 3, Z: 2}, Threads: kernel.Dim{X: 3, Y: 5, Z: 4}}, func() []any { return []any{zeros(tensor.Int64, 720)} }, func(i int) float64 {
			x, y, z := i%6, i/6%15, i/90
			n := (z%4*5+y%5)*3 + x%3
			return float64(((x/3*10+y/5)*10+z/4)*100000 + n/32*1000 + n%32)
		}},
		{"atomics32", kernel.Grid(50, 50), func() []any { return []any{zeros(tensor.Int32, 7)} }, func(i int) float64 {
			low, high := uint32(0x9000_0000), uint32(0x9000_0031)
			return float64([]int32{50, int32(low), int32(high), -1225, -10, 0, 100}[i])
		}},
		{"atomicsFloat", kernel.Grid(100, 25), func() []any { return []any{tensor.Zeros(2), zeros(tensor.Float64, 2)} }, func(i int) float64 { return []float64{50, 4950}[i] }},
		{"empty", kernel.Grid(0, 64), func() []any { return []any{tensor.Zeros(0), zeros(tensor.Int32, 1)} }, func(int) float64 { return 7 }},
		{"grids", kernel.Grid(0, 64), func() []any { return []any{zeros(tensor.Int32, 2)} }, func(i int) float64 { return []float64{64, 0}[i] }},
		{"grids", kernel.Shape{}, func() []any { return []any{zeros(tensor.Int32, 2)} }, func(i int) float64 { return []float64{1, 0}[i] }},
		{"grids", kernel.Shape{Blocks: kernel.Dim{Y: 7, Z: 3}, Threads: kernel.Dim{Z: 33}}, func() []any { return []any{zeros(tensor.Int32, 2)} }, func(i int) float64 { return []float64{693, 0}[i] }},
		{"waves", kernel.Grid(33, 33), func() []any { return []any{zeros(tensor.Int32, 33)} }, func(i int) float64 { return float64((i+5)%33 + 10) }},
	} {
		k := compile(t, threads, c.name)
		for _, device := range devices {
			on(t, device, func() {
				args := c.args()
				if err := k.Launch(c.shape, args...); err != nil {
					t.Errorf("%s: %v", device, err)
					return
				}
				for i, got := range args[len(args)-1].(*tensor.Tensor).Float64s() {
					if want := c.want(i); got != want {
						t.Errorf("%s: %s: element %d is %v, want %v", device, c.name, i, got, want)
					}
				}
			})
		}
	}
}

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

//go:embed testdata/mma.go
var mmaKernels string

// mmaProducts are the kernels with matrix units, with the types of their factors.
var mmaProducts = map[string]tensor.DType{"productTF32": tensor.Float32, "productFloat16": tensor.Float16, "productBFloat16": tensor.BFloat16}

// Products with matrix units are those of plain Go: exactly if the sums are exact, and in any case the same on all devices.
func TestMMA(t *testing.T) {
	const m, n, k = 37, 29, 41
	shape := kernel.Shape{Blocks: kernel.Dim{X: (n + 7) / 8, Y: (m + 15) / 16}, Threads: kernel.Dim{X: 32}}
	r := rand.New(rand.NewPCG(1, 1))
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64() * math.Exp2(float64(r.IntN(9)-4)))
		}
		return x
	}
	for _, values := range []struct {
		name string
		of   func(n int) []float32
	}{{"exact", floats}, {"rounded", random}} {
		a, b := values.of(m*k), values.of(k*n)
		for name, d := range mmaProducts {
			compiled := compile(t, mmaKernels, name)
			var results [][]float32
			for _, device := range devices {
				on(t, device, func() {
					left, right, c := tensor.New(a, m, k).Cast(d), tensor.New(b, k, n).Cast(d), tensor.Zeros(m, n)
					if err := compiled.Launch(shape, m, n, k, left, right, c); err != nil {
						t.Fatalf("%s on %s: %v", name, device, err)
					}
					got := c.Data()
					results = append(results, got)
					want := product(values64(left), values64(right), m, n, k, 0)
					scale := product(each(values64(left), func(_ int, v float64) float64 { return math.Abs(v) }),
						each(values64(right), func(_ int, v float64) float64 { return math.Abs(v) }), m, n, k, 0)
					for i := range want {
						within := 0.0
						if values.name == "rounded" {
							within = scale[i] * 0x1p-20
							if d == tensor.Float32 {
								within = scale[i] * 0x1p-10 // TF32 has 11 bits
							}
						}
						if math.Abs(float64(got[i])-want[i]) > within {
							t.Fatalf("%s of %s values on %s: element %d is %v, want %v", name, values.name, device, i, got[i], want[i])
						}
					}
				})
			}
			if !slices.Equal(results[0], results[1]) {
				t.Errorf("%s of %s values: the CPU and the simulated GPU differ", name, values.name)
			}
			left, right := tensor.New(a, m, k).Cast(d), tensor.New(b, k, n).Cast(d)
			if _, err := kernel.Check(compiled, shape, m, n, k, left, right, tensor.Zeros(m, n)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func values64(x *tensor.Tensor) []float64 {
	out := make([]float64, x.Numel())
	for i, v := range x.Cast(tensor.Float32).Data() {
		out[i] = float64(v)
	}
	return out
}

// TF32 has ties away from zero, and infinities and NaN remain.
func TestMMARounding(t *testing.T) {
	compiled := compile(t, mmaKernels, "productTF32")
	shape := kernel.Grid(32, 32)
	inf := float32(math.Inf(1))
	for _, row := range []struct{ x, want float32 }{
		{1 + 0x1p-11, 1 + 0x1p-10}, {-1 - 0x1p-11, -1 - 0x1p-10}, {1 + 0x1p-12, 1}, {1 + 0x1p-11 + 0x1p-10, 1 + 0x1p-9}, {0x1p-140, 0}, {inf, inf}, {-inf, -inf},
		{math.MaxFloat32, inf}, {float32(math.NaN()), float32(math.NaN())},
	} {
		for _, device := range devices {
			on(t, device, func() {
				c := tensor.Zeros(1)
				if err := compiled.Launch(shape, 1, 1, 1, tensor.New([]float32{row.x}, 1), tensor.Ones(1), c); err != nil {
					t.Fatal(err)
				}
				if got := c.Data()[0]; got != row.want && (got == got || row.want == row.want) {
					t.Errorf("%s: %v is rounded to %v, want %v", device, row.x, got, row.want)
				}
			})
		}
	}
}

// Matrices need whole warps, all of whose threads are there.
func TestMMAFaults(t *testing.T) {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func k(t kernel.Thread, n int, x []float32) {
	if t.ThreadX() < n {
		var a, c [4]float32
		var b [2]float32
		x[t.ThreadX()] = kernel.MMATF32(t, a, b, c)[0]
	}
}`
	compiled := compile(t, text, "k")
	for _, row := range []struct {
		threads, n int
		want       string
	}{
		{48, 48, "panic: kernel.MMATF32 needs warps of 32 threads: the number of threads of a block must be a multiple of 32"},
		{32, 31, "31 of the 32 threads of the warp are here: all of them must call this"},
	} {
		err := compiled.Launch(kernel.Grid(row.threads, row.threads), row.n, tensor.Zeros(64))
		var f *kernel.Fault
		if !errors.As(err, &f) || f.Reason != row.want || f.Line != 9 {
			t.Errorf("%d of %d threads: %v", row.n, row.threads, err)
		}
		if _, err := kernel.Check(compiled, kernel.Grid(row.threads, row.threads), row.n, tensor.Zeros(64)); !errors.As(err, &f) || f.Line != 9 ||
			!strings.HasPrefix(f.Reason, strings.TrimPrefix(row.want, "31 of the 32 threads of the warp are here")[:10]) && !strings.HasPrefix(f.Reason, "not all threads of the warp") {
			t.Errorf("%d of %d threads: Check: %v", row.n, row.threads, err)
		}
	}
}
