package kernel_test

import (
	_ "embed"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

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
