package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func allTiles() []gemmKernel { return append(nativeTiles(), genericKernel) }

// randomMatrix returns a strided matrix within a larger one that is filled with NaN.
func randomMatrix(r *rand.Rand, rows, cols int, transposed bool) matrix {
	gap := r.IntN(3)
	m := matrix{row: cols + gap, col: 1}
	if transposed {
		m = matrix{row: 1, col: rows + gap}
	}
	m.data = make([]float32, rows*m.row+cols*m.col+1)
	for i := range m.data {
		m.data[i] = float32(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			m.data[i*m.row+j*m.col] = float32(r.NormFloat64())
		}
	}
	return m
}

func (m matrix) at(i, j int) float64 { return float64(m.data[i*m.row+j*m.col]) }

// checkGEMM runs one matrix multiplication and compares it with float64.
func checkGEMM(t *testing.T, d *Device, r *rand.Rand, m, n, k int, ta, tb, bias, relu bool) {
	t.Helper()
	a, b := randomMatrix(r, m, k, ta), randomMatrix(r, k, n, tb)
	g := newGEMM(d, m, n, k, a, b)
	const guard = 54321
	c := make([]float32, m*n+32)
	for i := range c {
		c[i] = guard
	}
	g.c, g.relu = c[16:16+m*n], relu
	if bias {
		g.bias = make([]float32, n)
		for i := range g.bias {
			g.bias[i] = float32(r.NormFloat64())
		}
	}
	g.run()
	first := append([]float32{}, g.c...)
	g.run()
	for i := range m {
		for j := range n {
			want, size := 0.0, 0.0
			for p := range k {
				x := a.at(i, p) * b.at(p, j)
				want += x
				size += math.Abs(x)
			}
			if bias {
				want += float64(g.bias[j])
				size += math.Abs(float64(g.bias[j]))
			}
			if relu {
				want = math.Max(want, 0)
			}
			got := float64(g.c[i*n+j])
			if bound := size * ulp * (2 + math.Sqrt(float64(k))); !(math.Abs(got-want) <= bound) {
				t.Fatalf("%s: element (%d, %d) of %d×%d×%d is %v, want %v ± %v", d.kernel.name, i, j, m, k, n, got, want, bound)
			}
			if math.Float32bits(first[i*n+j]) != math.Float32bits(g.c[i*n+j]) {
				t.Fatalf("%s: a second run of %d×%d×%d differs at (%d, %d)", d.kernel.name, m, k, n, i, j)
			}
		}
	}
	for i, v := range c {
		if (i < 16 || i >= 16+m*n) && v != guard {
			t.Fatalf("%s: %d×%d×%d writes outside of its result", d.kernel.name, m, k, n)
		}
	}
}

func TestGEMM(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {4, 4, 4}, {14, 32, 4}, {6, 16, 8}, {15, 33, 5}, {13, 31, 3}, {28, 64, 16}, {57, 70, 390}, {61, 17, 400}, {3, 300, 2}, {130, 5, 9}, {1, 200, 771}, {200, 1, 9}, {5, 6, 0}, {2, 4200, 5}, {20, 32, 1100}, {40, 200, 1100}, {40, 48, 2050}, {1, 16, 1024}, {30, 4112, 70}, {300, 72, 90}, {530, 40, 410}, {400, 150, 20}}
	for _, kernel := range allTiles() {
		for threads := 1; threads <= 3; threads += 2 {
			d := NewWith(kernel.name, threads)
			for _, ta := range []bool{false, true} {
				for _, tb := range []bool{false, true} {
					t.Run(fmt.Sprint(kernel.name, " ", threads, ta, tb), func(t *testing.T) {
						r := rand.New(rand.NewPCG(5, 6))
						for i, s := range sizes {
							checkGEMM(t, d, r, s[0], s[1], s[2], ta, tb, i%2 == 0, i%3 == 0)
						}
					})
				}
			}
			d.Close()
		}
	}
}

// TestGEMMWide multiplies matrices of more columns than are packed at once, so deep that parts of the depth are computed separately.
func TestGEMMWide(t *testing.T) {
	const m, n, k, last = 100, ncMax + 16, 1030, 20
	r := rand.New(rand.NewPCG(7, 8))
	a, b := randomMatrix(r, m, k, true), randomMatrix(r, k, n, true)
	for _, kernel := range allTiles() {
		for threads := 1; threads <= 2; threads++ {
			d := NewWith(kernel.name, threads)
			g := newGEMM(d, m, n, k, a, b)
			g.c = make([]float32, m*n)
			g.run()
			for range 2000 {
				i, j := r.IntN(m), n-1-r.IntN(last)
				want := 0.0
				for p := range k {
					want += a.at(i, p) * b.at(p, j)
				}
				if got := float64(g.c[i*n+j]); !(math.Abs(got-want) < 1e-3) {
					t.Fatalf("%s: element (%d, %d) is %v, want %v", kernel.name, i, j, got, want)
				}
			}
			d.Close()
		}
	}
}

// TestDivide checks that two threads pack columns of their own unless that costs more than sharing them, and that they only wait for
// each other in large products.
func TestDivide(t *testing.T) {
	kernel := allTiles()[0]
	for _, c := range []struct {
		m, n, k int
		across  int
		apart   bool
	}{{128, 256, 784, 2, true}, {128, 128, 256, 2, true}, {1024, 1024, 1024, 2, false}, {2048, 256, 256, 1, false}} {
		d := NewWith(kernel.name, 2)
		g := newGEMM(d, c.m, c.n, c.k, matrix{row: c.k, col: 1}, matrix{row: 1, col: c.k})
		if g.across != c.across || g.apart() != c.apart || g.down*g.across < 2 {
			t.Errorf("%d×%d×%d is divided into %d×%d chunks, apart: %v", c.m, c.k, c.n, g.down, g.across, g.apart())
		}
		d.Close()
	}
}

// TestGEMMTaken lets workers compute chunks of each other, whose panels the other one has packed: the result is that of one thread.
func TestGEMMTaken(t *testing.T) {
	const m, n, k = 400, 520, 450
	r := rand.New(rand.NewPCG(11, 12))
	for layout := range 4 {
		a, b := randomMatrix(r, m, k, layout&1 != 0), randomMatrix(r, k, n, layout&2 != 0)
		for _, kernel := range allTiles() {
			one, two := NewWith(kernel.name, 1), NewWith(kernel.name, 2)
			want, g := newGEMM(one, m, n, k, a, b), newGEMM(two, m, n, k, a, b)
			want.c, g.c = make([]float32, m*n), make([]float32, m*n)
			want.run()
			if g.apart() || g.across != 2 || g.down < 3 {
				t.Fatalf("%s: %d×%d chunks, apart: %v", kernel.name, g.down, g.across, g.apart())
			}
			g.nc = n
			for from := 0; from < k; from += g.kc {
				g.depth = g.at(from)
				for i := range g.packed {
					g.packed[i].Store(0)
				}
				first := (n + kernel.nr - 1) / kernel.nr / 2 // panel of worker 1
				g.work(g.down, 1)                            // the first chunk of worker 1
				for chunk := range g.down {
					g.work(chunk, chunk%2) // those of worker 0, which packs their panels in the first one
				}
				for chunk := g.down + 1; chunk < 2*g.down; chunk++ {
					if !g.taken(first, 1, 0, m/g.down) {
						t.Fatalf("%s: worker 0 does not pack for itself", kernel.name)
					}
					g.work(chunk, 0)
				}
			}
			if !slices.Equal(g.c, want.c) {
				t.Errorf("%s: layout %d: chunks of another worker differ", kernel.name, layout)
			}
			one.Close()
			two.Close()
		}
	}
}

// TestGEMMCaches computes products as on CPUs with other caches, which pack other operands: the sums are the same.
func TestGEMMCaches(t *testing.T) {
	real := dataCaches
	defer func() { dataCaches = real }()
	r := rand.New(rand.NewPCG(9, 10))
	for _, s := range [][3]int{{280, 240, 1030}, {400, 48, 1030}, {12, 96, 1030}, {70, 8, 900}} { // m, n, k
		for layout := range 4 {
			m, n, k := s[0], s[1], s[2]
			a, b := randomMatrix(r, m, k, layout&1 != 0), randomMatrix(r, k, n, layout&2 != 0)
			for _, kernel := range allTiles() {
				var want []float32
				for _, l2 := range []int{256 << 10, 512 << 10, 2 << 20, 16 << 20} {
					dataCaches = Caches{L1: real.L1, L2: Cache{l2, 8}}
					d := NewWith(kernel.name, 2)
					g := newGEMM(d, m, n, k, a, b)
					g.c = make([]float32, m*n)
					g.run()
					if want == nil {
						want = g.c
					}
					if !slices.Equal(g.c, want) {
						t.Errorf("%s: %d×%d×%d, layout %d, differs with %d bytes of L2 cache", kernel.name, m, k, n, layout, l2)
					}
					d.Close()
				}
			}
		}
	}
}

// FuzzGEMM compares every kernel with float64 on any shape and layout.
func FuzzGEMM(f *testing.F) {
	f.Add(uint64(1), uint8(14), uint8(32), uint16(384), uint8(0))
	f.Add(uint64(2), uint8(29), uint8(65), uint16(385), uint8(7))
	f.Add(uint64(3), uint8(6), uint8(17), uint16(9), uint8(9))
	f.Add(uint64(4), uint8(1), uint8(0), uint16(1), uint8(15))
	f.Add(uint64(4), uint8(0), uint8(0), uint16(182), uint8(10))
	f.Add(uint64(4), uint8(0), uint8(40), uint16(700), uint8(10))
	f.Fuzz(func(t *testing.T, seed uint64, m, n uint8, k uint16, flags uint8) {
		for _, kernel := range allTiles() {
			d := NewWith(kernel.name, 2)
			checkGEMM(t, d, rand.New(rand.NewPCG(seed, 0)), int(m), int(n), int(k%800), flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0)
			d.Close()
		}
	})
}

func BenchmarkGEMM(b *testing.B) {
	for _, kernel := range allTiles() {
		for _, n := range []int{256, 512, 1024} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%d/threads=%d", kernel.name, n, threads), func(b *testing.B) {
					d := NewWith(kernel.name, threads)
					defer d.Close()
					r := rand.New(rand.NewPCG(1, 1))
					g := newGEMM(d, n, n, n, randomMatrix(r, n, n, false), randomMatrix(r, n, n, true))
					g.c = make([]float32, n*n)
					reportBest(b, 2*float64(n)*float64(n)*float64(n), g.run)
				})
			}
		}
	}
}

// BenchmarkTile is the peak speed of a kernel: one tile whose panels stay in the L1 cache.
func BenchmarkTile(b *testing.B) {
	for _, k := range allTiles() {
		b.Run(k.name, func(b *testing.B) {
			const depth = 128
			pa, pb, c := aligned(depth*k.mr), aligned(depth*k.nr), aligned(k.mr*k.nr)
			reportBest(b, 1000*2*depth*float64(k.mr*k.nr), func() {
				for range 1000 {
					k.tiles[k.mr-1][k.nr/k.lanes-1](depth, &pa[0], 1, k.mr, &pb[0], k.nr, &c[0], k.nr, 0, nil, &pa[0], 1, 1, 0, 0, 0)
				}
			})
		})
	}
}

// reportBest reports the fastest run, which is the speed of the code even if others use the
// machine.
func reportBest(b *testing.B, flops float64, f func()) {
	best := math.Inf(1)
	for b.Loop() {
		start := time.Now()
		f()
		best = min(best, time.Since(start).Seconds())
	}
	b.ReportMetric(flops/best/1e9, "GFLOP/s-best")
}
