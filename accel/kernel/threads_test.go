package kernel_test

import (
	_ "embed"
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
