package kernels

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// summing are the kernels of a product that can sum a factor.
var summing = []struct {
	name string
	d, y ir.DType
	of   func(MatMul) matmulKernels
}{
	{"gemm", ir.Float32, ir.Float32, func(o MatMul) matmulKernels { return o }},
	{"gemm", ir.Float64, ir.Float64, func(o MatMul) matmulKernels { return o }},
	{"mma", ir.BFloat16, ir.Float32, func(o MatMul) matmulKernels { return TensorMatMul{o, false} }},
	{"mma", ir.Float16, ir.Float16, func(o MatMul) matmulKernels { return TensorMatMul{o, true} }},
	{"mma", ir.Float32, ir.Float32, func(o MatMul) matmulKernels { return TensorMatMul{o, false} }}, // TF32
	{"wgmma", ir.BFloat16, ir.BFloat16, func(o MatMul) matmulKernels { return HopperMatMul{TensorMatMul{o, true}} }},
	{"wgmma", ir.Float16, ir.Float32, func(o MatMul) matmulKernels { return HopperMatMul{TensorMatMul{o, false}} }},
}

// TestFactorSums sums a factor of products, in one launch or two.
func TestFactorSums(t *testing.T) {
	cases := some([]matmulCase{
		{"odd", swapped(33, 17), rowMajor(17, 65), false, false},
		{"one element", swapped(1, 1), rowMajor(1, 1), false, false},
		{"one row", swapped(1, 40), rowMajor(40, 72), false, false},
		{"one column", swapped(72, 40), rowMajor(40, 1), false, false},
		{"no depth", swapped(5, 0), rowMajor(0, 7), false, false},
		{"depth 1", swapped(9, 1), rowMajor(1, 10), false, false},
		{"more than a tile", swapped(136, 40), rowMajor(40, 264), false, false},
		{"a is along k", rowMajor(72, 104), rowMajor(104, 24), false, false},
		{"b is along k", swapped(72, 104), swapped(104, 24), false, false},
		{"five, the last of which is short", swapped(16, 1290), rowMajor(1290, 8), false, false},
		{"two of more than a tile", swapped(72, 512), rowMajor(512, 264), false, true},
	})
	for _, p := range cases {
		for _, k := range summing {
			for factor, l := range map[int]ir.Layout{1: {Shape: []int{p.a.Shape[1], p.a.Shape[0]}, Stride: []int{p.a.Stride[1], p.a.Stride[0]}}, 2: p.b} {
				sums16 := k.d.Is16Bit() && (k.y.Is16Bit() != (factor == 2)) // of y's type or of another
				o := k.of(MatMul{DType: k.d, A: p.a, B: p.b, ReLU: p.relu, Sums: factor, Sums16: sums16})
				if h, ok := o.(HopperMatMul); !l.Contiguous() || ok && !h.Fits(0, 0) {
					continue
				}
				t.Run(fmt.Sprint(p.name, " ", k.name, " ", k.d, " ", factor), func(t *testing.T) {
					r := generator(31)
					m, a, b := newTestGPU(t), numbers(r, k.d, p.a), numbers(r, k.d, p.b)
					want := p.want(t, a, b, array{})
					of := map[int]array{1: a, 2: b}[factor].as(ir.Float64)
					of.shape = l.Shape
					sums := reference(t, ir.Sum{From: 0, To: 1}, nil, []array{of}, nil, newArray(ir.Float64, l.Shape[1]))
					as := computes(k.d)
					if sums16 {
						as = k.d
					}
					y, s := m.alloc(len(want.data)*k.y.Size()), m.alloc(l.Shape[1]*as.Size())
					launches, err := o.Launches(Addresses{In: []Pointer{m.put(a), m.put(b)}, Out: []Pointer{y, s}, Work: m.alloc(o.Workspace())})
					if err != nil {
						t.Fatal(err)
					}
					if tf32 := k.name == "mma" && k.d == ir.Float32; (len(launches) == 2) != tf32 {
						t.Errorf("%d launches", len(launches))
					}
					var first []byte
					for range min(2, int(launches[0].Grid.Y)) { // a split counts how many blocks have come
						m.run(launches)
						tolerance := 1e-5 * math.Sqrt(float64(l.Shape[0]+1))
						switch {
						case k.y == ir.Float64:
							tolerance = 1e-12
						case k.name == "mma" && k.d == ir.Float32: // TF32
							tolerance *= 300
						case k.y != ir.Float32:
							tolerance = 1.0 / 100
						}
						compareArrays(t, m.get(y, k.y, want.shape), want, tolerance)
						near := map[ir.DType]float64{ir.Float32: 1e-6, ir.Float64: 1e-12, ir.BFloat16: 1.0 / 256, ir.Float16: 1.0 / 2048}[as]
						compareArrays(t, m.get(s, as, sums.shape), sums, max(near, math.Sqrt(float64(l.Shape[0]+1))*min(near, 1e-6)))
						if now := m.read(s, l.Shape[1]*as.Size()); first == nil {
							first = now
						} else if !bytes.Equal(now, first) {
							t.Error("the same launch gives other bits")
						}
					}
				})
			}
		}
	}
}

// TestFactorSumsOfNonFinite sums NaN and infinities, which must not reach the sums of other columns.
func TestFactorSumsOfNonFinite(t *testing.T) {
	const m, n, k = 24, 40, 72
	for _, kernel := range summing {
		for factor, columns := range map[int]int{1: m, 2: n} {
			t.Run(fmt.Sprint(kernel.name, " ", kernel.d, " ", factor), func(t *testing.T) {
				r := generator(32)
				gpu, a, b := newTestGPU(t), random(r, kernel.d, k, m), random(r, kernel.d, k, n)
				of := map[int]array{1: a, 2: b}[factor]
				inf := math.Inf(1)
				for column, values := range [][2]float64{{math.NaN(), 1}, {inf, 1}, {-inf, 1}, {inf, -inf}} {
					of.data[3*columns+2*column+1], of.data[50*columns+2*column+1] = values[0], values[1]
				}
				o := kernel.of(MatMul{DType: kernel.d, A: swapped(m, k), B: rowMajor(k, n), Sums: factor})
				wide := computes(kernel.d)
				s := gpu.alloc(columns * wide.Size())
				launches, err := o.Launches(Addresses{In: []Pointer{gpu.put(a), gpu.put(b)}, Out: []Pointer{gpu.alloc(m * n * kernel.y.Size()), s}, Work: gpu.alloc(o.Workspace())})
				if err != nil {
					t.Fatal(err)
				}
				gpu.run(launches)
				compareArrays(t, gpu.get(s, wide, []int{columns}), reference(t, ir.Sum{From: 0, To: 1}, nil, []array{of.as(ir.Float64)}, nil, newArray(ir.Float64, columns)), 1e-5)
			})
		}
	}
}

// TestUnalignedParts checks that products of large unaligned matrices, for which there is a small tile only, have no
// more parts than there are counters.
func TestUnalignedParts(t *testing.T) {
	for _, d := range []ir.DType{ir.BFloat16, ir.Float32} {
		for _, s := range [][3]int{{1500, 1500, 1001}, {1501, 1537, 4097}, {1409, 1410, 769}, {777, 2599, 30001}, {64, 9000, 801}} {
			for sums := range 2 {
				o := TensorMatMul{MatMul{DType: d, A: swapped(s[0], s[2]), B: rowMajor(s[2], s[1]), Sums: sums}, false}
				launches, err := o.Launches(Addresses{In: []Pointer{1 << 20, 1<<20 + 2}, Out: []Pointer{1 << 20, 1 << 20}, Work: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				g := launches[0].Grid
				if g.Y > 1 && g.X*g.Y*g.Z > maxMeetings {
					t.Errorf("%v: %d blocks in %d parts", s, g.X, g.Y)
				}
				if need := partBytes(int(g.Y), int(g.X), 64*64, 4); o.Workspace() < need {
					t.Errorf("%v: a workspace of %d bytes, %d are needed", s, o.Workspace(), need)
				}
			}
		}
	}
}
