package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func TestDivisor(t *testing.T) {
	r := generator(20)
	for i := range 2000 {
		by := 1 + i%300
		if i > 1000 {
			by = 1 + r.IntN(1<<31-1)
		}
		d := newDivisor(by)
		for _, n := range []int{0, 1, by - 1, by, by + 1, 2*by - 1, 1<<31 - 1, r.IntN(1 << 31), (1<<31 - 1) / by * by, (1<<31-1)/by*by - 1} {
			if n < 0 || n >= 1<<31 {
				continue
			}
			got := uint32(n)
			if d.By != 1 {
				got = uint32(uint64(n)*uint64(d.Factor)>>32) >> d.Shift
			}
			if int(got) != n/by {
				t.Fatalf("%d / %d is %d, want %d", n, by, got, n/by)
			}
		}
	}
}

// matmulCase is a case of MatMul: the logical shapes, and layouts that may be views.
type matmulCase struct {
	name       string
	a, b       ir.Layout
	bias, relu bool
}

func rowMajor(shape ...int) ir.Layout { return ir.RowMajor(shape) }

// swapped returns a row-major matrix with its last two dimensions exchanged.
func swapped(shape ...int) ir.Layout {
	n := len(shape)
	s := slices.Clone(shape)
	s[n-1], s[n-2] = s[n-2], s[n-1]
	l := ir.RowMajor(s)
	l.Shape[n-1], l.Shape[n-2] = l.Shape[n-2], l.Shape[n-1]
	l.Stride[n-1], l.Stride[n-2] = l.Stride[n-2], l.Stride[n-1]
	return l
}

// matmulCases are small and odd sizes, all memory orders of the operands, batches, and
// depths that are split.
func matmulCases() []matmulCase {
	var out []matmulCase
	for i, s := range [][3]int{{1, 1, 1}, {31, 33, 17}, {33, 127, 129}, {129, 65, 40}, {64, 64, 64}, {5, 7, 0}, {0, 3, 4}, {128, 136, 96}} {
		m, n, k := s[0], s[1], s[2]
		for order, f := range []func(bool) (ir.Layout, ir.Layout){
			func(bool) (ir.Layout, ir.Layout) { return rowMajor(m, k), rowMajor(k, n) },
			func(bool) (ir.Layout, ir.Layout) { return rowMajor(m, k), swapped(k, n) },
			func(bool) (ir.Layout, ir.Layout) { return swapped(m, k), rowMajor(k, n) },
			func(bool) (ir.Layout, ir.Layout) { return swapped(m, k), swapped(k, n) },
		} {
			a, b := f(true)
			out = append(out, matmulCase{fmt.Sprint(s, order), a, b, (i+order)%2 == 0, (i+order)%3 == 0})
		}
	}
	odd := rowMajor(33, 40)
	odd.Stride = []int{83, 2}
	return append(out,
		matmulCase{"deep", rowMajor(9, 1500), rowMajor(1500, 16), true, true},
		matmulCase{"deep, aligned", rowMajor(16, 1024), swapped(1024, 24), false, true},
		matmulCase{"batch", rowMajor(3, 2, 17, 24), rowMajor(3, 2, 24, 9), true, false},
		matmulCase{"one for all", rowMajor(3, 5, 24), rowMajor(24, 16).BroadcastTo([]int{3, 24, 16}), true, false},
		matmulCase{"all for one", rowMajor(5, 24).BroadcastTo([]int{3, 5, 24}), rowMajor(3, 24, 16), false, false},
		matmulCase{"outer", rowMajor(3, 1, 8, 24).BroadcastTo([]int{3, 4, 8, 24}), rowMajor(4, 24, 16).BroadcastTo([]int{3, 4, 24, 16}), false, false},
		matmulCase{"strides of two", odd, rowMajor(40, 16), false, false},
		matmulCase{"empty batch", rowMajor(0, 5, 24), rowMajor(0, 24, 16), false, false})
}

// numbers fills the memory of a layout with random values.
func numbers(r *rand.Rand, d ir.DType, l ir.Layout) array { return random(r, d, extent(l)) }

func (p matmulCase) want(t *testing.T, a, b, bias array) array {
	r := len(p.a.Shape) - 2
	shape := append(slices.Clone(p.a.Shape[:r+1]), p.b.Shape[r+1])
	x, z := a.as(ir.Float64), b.as(ir.Float64)
	want := reference(t, ir.MatMul{}, nil, []array{x, z}, []ir.Layout{p.a, p.b}, newArray(ir.Float64, shape...))
	n := p.b.Shape[r+1]
	for i := range want.data {
		if p.bias {
			want.data[i] += bias.data[i%n]
		}
		if p.relu {
			want.data[i] = math.Max(want.data[i], 0)
		}
	}
	return want
}

func TestMatMul(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, tolerance func(float64) float64) {
		for _, p := range some(matmulCases()) {
			t.Run(p.name, func(t *testing.T) {
				r := generator(21)
				m, a, b := newTestGPU(t), numbers(r, d, p.a), numbers(r, d, p.b)
				bias := random(r, d, p.b.Shape[len(p.b.Shape)-1])
				want := p.want(t, a, b, bias)
				o := MatMul{DType: d, A: p.a, B: p.b, Bias: p.bias, ReLU: p.relu}
				y := m.alloc(len(want.data) * d.Size())
				launches, err := o.Launches(Addresses{In: []Pointer{m.put(a), m.put(b), m.put(bias)}, Out: []Pointer{y}, Work: m.alloc(o.Workspace())})
				if err != nil {
					t.Fatal(err)
				}
				m.run(launches)
				depth := float64(p.a.Shape[len(p.a.Shape)-1] + 1)
				compareArrays(t, m.get(y, d, want.shape), want, tolerance(1e-6)*math.Sqrt(depth))
			})
		}
	})
}

// TestLargeTile multiplies matrices large enough to use the large tile.
func TestLargeTile(t *testing.T) {
	if testing.Short() {
		t.Skip("multiplies 1500×1500 matrices")
	}
	for _, d := range []ir.DType{ir.Float32, ir.BFloat16} {
		r := generator(22)
		p := matmulCase{"", rowMajor(1480, 40), swapped(40, 1416), false, false}
		m, a, b := newTestGPU(t), numbers(r, d, p.a), numbers(r, d, p.b)
		y := m.alloc(1480 * 1416 * 4)
		o, at := MatMul{DType: d, A: p.a, B: p.b}, Addresses{In: []Pointer{m.put(a), m.put(b)}, Out: []Pointer{y}}
		launches, err := o.Launches(at)
		if d == ir.BFloat16 {
			launches, err = TensorMatMul{MatMul: o}.Launches(at)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := launches[0].Grid.X; got != 12*12 {
			t.Errorf("%d blocks, want those of tiles of 128", got)
		}
		m.run(launches)
		compareArrays(t, m.get(y, ir.Float32, []int{1480, 1416}), p.want(t, a, b, array{}), 1e-5)
	}
}

// TestMatMulInstructions counts what a multiply-add of the large tile takes beside itself: its share of loads, copies
// and the loop. A copy of 16 bytes, where the panel has the operand's order, takes a quarter of those of four bytes.
func TestMatMulInstructions(t *testing.T) {
	const side, depth = 1536, 64
	for _, row := range []struct {
		name string
		a, b ir.Layout
		most float64
	}{
		{"nn", swapped(side, depth), rowMajor(depth, side), 1.7},
		{"tt", rowMajor(side, depth), swapped(depth, side), 1.8},
	} {
		m, o := newTestGPU(t), MatMul{DType: ir.Float32, A: row.a, B: row.b}
		x := m.put(newArray(ir.Float32, side, depth))
		launches, err := o.Launches(Addresses{In: []Pointer{x, x}, Out: []Pointer{m.alloc(side * side * 4)}})
		if err != nil {
			t.Fatal(err)
		}
		m.run(launches)
		if got := 32 * float64(m.steps) / (side * side * depth); got > row.most { // a real GPU counts none
			t.Errorf("%s: %.4g instructions for each multiply-add, at most %g are needed", row.name, got, row.most)
		}
	}
}

// TestTensorMatMul compares with the exact matrix multiplication of the rounded operands;
// the kernels accumulate in float32.
func TestTensorMatMul(t *testing.T) {
	for _, d := range []ir.DType{ir.BFloat16, ir.Float16, ir.Float32} {
		t.Run(tensorType(d), func(t *testing.T) {
			for _, p := range some(matmulCases()) {
				t.Run(p.name, func(t *testing.T) {
					for _, output16 := range []bool{false, true} {
						if output16 && d == ir.Float32 {
							continue
						}
						r := generator(23)
						m, a, b := newTestGPU(t), numbers(r, d, p.a), numbers(r, d, p.b)
						if d == ir.Float32 {
							a, b = tf32(a), tf32(b)
						}
						to := ir.Float32
						if output16 {
							to = d
						}
						bias := random(r, to, p.b.Shape[len(p.b.Shape)-1])
						want := p.want(t, a, b, bias)
						o := TensorMatMul{MatMul{DType: d, A: p.a, B: p.b, Bias: p.bias, ReLU: p.relu}, output16}
						y := m.alloc(len(want.data) * to.Size())
						launches, err := o.Launches(Addresses{In: []Pointer{m.put(a), m.put(b), m.put(bias)}, Out: []Pointer{y}, Work: m.alloc(o.Workspace())})
						if err != nil {
							t.Fatal(err)
						}
						m.run(launches)
						tolerance := 2e-6 * math.Sqrt(float64(p.a.Shape[len(p.a.Shape)-1]+1))
						if output16 {
							tolerance += 1.0 / 256
						}
						compareArrays(t, m.get(y, to, want.shape), want, tolerance)
					}
				})
			}
		})
	}
}

// tf32 rounds to a 10-bit mantissa, to nearest, ties away from zero.
func tf32(a array) array {
	out := newArray(a.dtype, a.shape...)
	for i, v := range a.data {
		out.data[i] = float64(math.Float32frombits((math.Float32bits(float32(v)) + 0x1000) &^ 0x1fff))
	}
	return out
}
