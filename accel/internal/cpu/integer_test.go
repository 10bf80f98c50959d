package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// randomBytes returns values of the whole range, with many at its ends, where 16-bit sums
// would overflow.
func randomBytes(r *rand.Rand, n int) []uint8 {
	b := make([]uint8, n)
	for i := range b {
		switch r.IntN(4) {
		case 0:
			b[i] = 255
		case 1:
			b[i] = 128
		default:
			b[i] = uint8(r.IntN(256))
		}
	}
	return b
}

func signed(b []uint8) []int8 {
	s := make([]int8, len(b))
	for i, v := range b {
		s[i] = int8(v)
	}
	return s
}

// checkBytes compares a matmul with the plain loop, bit for bit.
func checkBytes(t *testing.T, k *byteKernel, r *rand.Rand, m, n, depth, gap int) {
	t.Helper()
	row := depth + gap
	a := randomBytes(r, m*row+8)
	w := signed(randomBytes(r, n*depth))
	packed := packedBytes{n, depth, k.pack(w, n, depth)}
	counted := &arena{}
	k.scratch(counted, depth)
	scratch := k.scratch(&arena{left: make([]float32, counted.used)}, depth)
	seen := 0
	for top := 0; top < m; top += maxByteRows {
		rows := min(maxByteRows, m-top)
		k.multiply(packed, a[top*row:], row, rows, &scratch, func(j, columns int, sums []int32, pitch int) {
			for i := range rows {
				for c := range columns {
					want := int32(0)
					for p := range depth {
						want += int32(a[(top+i)*row+p]) * int32(w[(j+c)*depth+p])
					}
					seen++
					if got := sums[i*pitch+c]; got != want {
						t.Fatalf("%s: element (%d, %d) of %d×%d×%d is %d, want %d", k.name, top+i, j+c, m, depth, n, got, want)
					}
				}
			}
		})
	}
	if seen != m*n {
		t.Fatalf("%s: %d×%d×%d gave %d elements", k.name, m, depth, n, seen)
	}
}

func TestByteProducts(t *testing.T) {
	for _, k := range byteKernels() {
		t.Run(k.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for m := 1; m <= 2*k.mr+1; m++ {
				for _, n := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65} {
					checkBytes(t, k, r, m, n, 1+r.IntN(70), r.IntN(3))
				}
			}
			for depth := 1; depth <= 40; depth++ {
				checkBytes(t, k, r, 5, 19, depth, 0)
			}
			for _, s := range [][3]int{{113, 33, 257}, {224, 10, 100}, {1, 64, 4001}, {300, 1, 3}} {
				checkBytes(t, k, r, s[0], s[1], s[2], 0)
			}
		})
	}
}

// TestBytesDoNotSaturate tests sums that VPMADDUBSW would saturate.
func TestBytesDoNotSaturate(t *testing.T) {
	for _, k := range byteKernels() {
		for _, weight := range []int8{127, -128} {
			const depth = 1000
			a, w := make([]uint8, depth+8), make([]int8, depth)
			for i := range depth {
				a[i], w[i] = 255, weight
			}
			counted := &arena{}
			k.scratch(counted, depth)
			scratch := k.scratch(&arena{left: make([]float32, counted.used)}, depth)
			k.multiply(packedBytes{1, depth, k.pack(w, 1, depth)}, a, depth, 1, &scratch, func(_, _ int, sums []int32, _ int) {
				if want := 255 * int32(weight) * depth; sums[0] != want {
					t.Errorf("%s: %d, want %d", k.name, sums[0], want)
				}
			})
		}
	}
}

// FuzzByteProducts compares every kernel with the plain loop on any shape.
func FuzzByteProducts(f *testing.F) {
	f.Add(uint64(1), uint8(14), uint8(32), uint16(64), uint8(0))
	f.Add(uint64(2), uint8(113), uint8(17), uint16(5), uint8(2))
	f.Add(uint64(3), uint8(6), uint8(9), uint16(1), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, m, n uint8, depth uint16, gap uint8) {
		for _, k := range byteKernels() {
			checkBytes(t, k, rand.New(rand.NewPCG(seed, 0)), 1+int(m), 1+int(n)%100, 1+int(depth)%600, int(gap)%5)
		}
	})
}

// edges returns floats around the values where rounding and clamping change.
func edges(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		switch r.IntN(4) {
		case 0:
			x[i] = float32(r.IntN(600)-300) + 0.5
		case 1:
			x[i] = float32(r.NormFloat64() * 1e9)
		default:
			x[i] = float32(r.NormFloat64() * 100)
		}
	}
	return x
}

// TestByteVectors compares the other functions on bytes with plain Go, bit for bit unless
// the order of additions differs.
func TestByteVectors(t *testing.T) {
	for _, k := range byteKernels() {
		t.Run(k.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			for n := range 150 {
				x, factor, bias := edges(r, n), edges(r, n), edges(r, n)
				sums, offset := make([]int32, n), make([]int32, n)
				for i := range sums {
					sums[i], offset[i] = int32(r.Uint32()), int32(r.IntN(1000)-500)
					factor[i] /= 1e6
				}
				q, want := make([]uint8, n), make([]uint8, n)
				if s := k.quantize(q, x, 1.5, 3); s != 0 {
					t.Fatalf("n=%d: finite numbers give %v", n, s)
				}
				quantizeGeneric(want, x, 1.5, 3)
				equal(t, "quantize", q, want)
				k.requantize(min(n, 1), n, q, n, sums, n, offset, factor, bias, 7)
				requantizeGeneric(min(n, 1), n, want, n, sums, n, offset, factor, bias, 7)
				equal(t, "requantize", q, want)
				y, wantY := make([]float32, n), make([]float32, n)
				k.dequantize(min(n, 1), n, y, n, sums, n, offset, factor, bias, -50)
				dequantizeGeneric(min(n, 1), n, wantY, n, sums, n, offset, factor, bias, -50)
				equal(t, "dequantize", y, wantY)
				weight := signed(randomBytes(r, n))
				k.widen(y, weight, 0.3)
				widenBytesGeneric(wantY, weight, 0.3)
				equal(t, "widen", y, wantY)
				dot, size := 0.0, 0.0
				for i, v := range bias {
					dot += float64(v) * float64(weight[i])
					size += math.Abs(float64(v) * float64(weight[i]))
				}
				if got := float64(k.dot(bias, weight)); !(math.Abs(got-dot) <= size*ulp*(2+math.Sqrt(float64(n)))) {
					t.Fatalf("dot of %d is %v, want %v", n, got, dot)
				}
				for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					if n > 0 {
						x[r.IntN(n)] = float32(bad)
						if s := k.quantize(q, x, 1, 0); !math.IsNaN(float64(s)) {
							t.Fatalf("n=%d: %v is not noticed", n, bad)
						}
					}
				}
			}
		})
	}
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d of %d is %v, want %v", what, i, len(want), got[i], want[i])
		}
	}
}

// BenchmarkByteProducts measures a matmul including the use of its sums.
func BenchmarkByteProducts(b *testing.B) {
	for _, k := range byteKernels() {
		for _, n := range []int{256, 1024} {
			b.Run(fmt.Sprintf("%s/%d", k.name, n), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				a, w := randomBytes(r, n*n+8), signed(randomBytes(r, n*n))
				packed := packedBytes{n, n, k.pack(w, n, n)}
				counted := &arena{}
				k.scratch(counted, n)
				scratch := k.scratch(&arena{left: make([]float32, counted.used)}, n)
				offset, factor, q := make([]int32, n), make([]float32, n), make([]uint8, n*n)
				reportBest(b, 2*float64(n)*float64(n)*float64(n), func() {
					for top := 0; top < n; top += maxByteRows {
						rows := min(maxByteRows, n-top)
						k.multiply(packed, a[top*n:], n, rows, &scratch, func(j, columns int, sums []int32, pitch int) {
							k.requantize(rows, columns, q[top*n+j:], n, sums, pitch, offset[j:], factor[j:], factor[j:], 0)
						})
					}
				})
			})
		}
	}
}

func floatsOf(s *storage) []float32 { return unsafe.Slice((*float32)(s.base), s.size/4) }
