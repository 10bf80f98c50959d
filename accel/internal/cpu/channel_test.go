package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestChannels compares every kernel with float64, on rows of every length around whole
// vectors, and checks that memory between the rows does not change.
func TestChannels(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const mean, scale, bias, level, slope = 0.25, 1.5, -0.5, 0.125, 2
	for i, k := range append(nativeChannels(), genericChannels) {
		for _, rows := range []int{1, 2, 5} {
			for n := 1; n <= 35; n++ {
				t.Run(fmt.Sprint("set ", i, ", ", rows, "x", n), func(t *testing.T) {
					pitch := n + r.IntN(3)
					a, dy, before := filled(r, rows*pitch), filled(r, rows*pitch), filled(r, rows*pitch)
					var sum, squares, slopes, products float64
					scaled, clamped, gradient := slices.Clone(before), slices.Clone(before), slices.Clone(before)
					for row := range rows {
						for at := row * pitch; at < row*pitch+n; at++ {
							x, y := float64(a[at]), float64(dy[at])
							sum += x
							squares += (x - mean) * (x - mean)
							slopes += y
							products += y * (x - mean)
							scaled[at] = float32((x-mean)*scale + bias)
							clamped[at] = max(scaled[at], 0)
							gradient[at] = float32((y - level - (x-mean)*slope) * scale)
						}
					}
					var got [4]float32
					var exact float64
					k.sum(rows, n, &a[0], pitch, &exact)
					if !(math.Abs(exact-sum) <= 1e-4) {
						t.Errorf("the sum is %v, want %v", exact, sum)
					}
					got[0] = float32(exact)
					k.square(rows, n, &a[0], pitch, mean, &got[1])
					k.slope(rows, n, &a[0], &dy[0], pitch, mean, &got[2])
					alike(t, got[:], []float32{float32(sum), float32(squares), float32(slopes), float32(products)}, 2e-5)

					out := slices.Clone(before)
					k.scale(rows, n, &out[0], &a[0], pitch, mean, scale, bias, float32(math.Inf(-1)))
					alike(t, out, scaled, 1e-6)
					out = slices.Clone(before)
					k.scale(rows, n, &out[0], &a[0], pitch, mean, scale, bias, 0)
					alike(t, out, clamped, 1e-6)
					out = slices.Clone(before)
					k.slopeScale(rows, n, &out[0], &a[0], &dy[0], pitch, mean, level, slope, scale)
					alike(t, out, gradient, 1e-5)
				})
			}
		}
	}
}

// TestChannelsKeepNaN tests elements that are not finite, and sums in which only the lanes
// after a row's end could be NaN.
func TestChannelsKeepNaN(t *testing.T) {
	nan, infinite := float32(math.NaN()), float32(math.Inf(1))
	for i, k := range append(nativeChannels(), genericChannels) {
		a, d := []float32{1, nan, 3}, make([]float32, 3)
		k.scale(1, 3, &d[0], &a[0], 3, 2, 1, 0, 0)
		if d[0] != 0 || d[1] == d[1] || d[2] != 1 {
			t.Errorf("set %d: %v, want 0, NaN and 1", i, d)
		}
		zeros := make([]float32, 3)
		var sums [2]float32
		k.square(1, 3, &zeros[0], 3, infinite, &sums[0])
		if sums[0] != infinite {
			t.Errorf("set %d: the squares of distances to infinity are %v", i, sums[0])
		}
		var sum float64
		k.sum(1, 2, &a[0], 2, &sum)
		if sum == sum {
			t.Errorf("set %d: a sum with NaN is %v", i, sum)
		}
	}
}

// TestPools compares the kernels with plain Go, on few different values and NaN, and checks
// that memory next to the pairs does not change.
func TestPools(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	few := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			if x[i] = float32(r.IntN(4)); x[i] == 3 && r.IntN(4) == 0 {
				x[i] = float32(math.NaN())
			}
		}
		return x
	}
	same := func(t *testing.T, got, want []float32) {
		t.Helper()
		for i, w := range want {
			if g := got[i]; g != w && (g == g || w == w) {
				t.Fatalf("element %d is %v, want %v", i, g, w)
			}
		}
	}
	for i, k := range nativeChannels() {
		for _, rows := range []int{1, 2, 5} {
			for n := 1; n <= 50; n++ {
				t.Run(fmt.Sprint("set ", i, ", ", rows, "x", n), func(t *testing.T) {
					pitch := 2*n + r.IntN(3)
					a, dy, before := few(2*rows*pitch), filled(r, rows*n), filled(r, 2*rows*pitch)
					y, want := slices.Clone(before), slices.Clone(before)
					k.pool(rows, n, &y[0], &a[0], pitch)
					poolRowsGeneric(rows, n, &want[0], &a[0], pitch)
					same(t, y, want)
					da, wantDA := slices.Clone(before), slices.Clone(before)
					k.poolSlope(rows, n, &da[0], &a[0], pitch, &y[0], &dy[0])
					poolSlopeRowsGeneric(rows, n, &wantDA[0], &a[0], pitch, &y[0], &dy[0])
					same(t, da, wantDA)
				})
			}
		}
	}
}
