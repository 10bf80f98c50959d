package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func flashCases() []attentionCase {
	return []attentionCase{
		{b: 1, h: 1, t: 1, s: 1, d: 32, e: 32},
		{b: 2, h: 2, t: 33, s: 31, d: 32, e: 32},
		{b: 1, h: 2, t: 129, s: 129, d: 32, e: 32, causal: true},
		{b: 1, h: 2, t: 65, s: 100, d: 64, e: 64, transposed: true},
		{b: 1, h: 1, t: 70, s: 20, d: 64, e: 64, causal: true, transposed: true},
		{b: 2, h: 2, t: 17, s: 33, d: 32, e: 32, added: []int{2, 1, 17, 33}, hide: true},
		{b: 2, h: 1, t: 17, s: 33, d: 64, e: 64, added: []int{1, 1, 1, 33}, causal: true},
		{b: 1, h: 1, t: 70, s: 97, d: 128, e: 128},
		{b: 1, h: 1, t: 40, s: 40, d: 128, e: 128, causal: true},
		{b: 1, h: 1, t: 0, s: 7, d: 32, e: 32},
		{b: 2, h: 3, t: 66, s: 66, d: 32, e: 32, causal: true, joined: true},
		{b: 2, h: 2, t: 30, s: 30, d: 64, e: 64, transposed: true, joined: true},
	}
}

// TestTensorAttention compares with float64 attention of the same 16-bit inputs. The
// kernels round the probabilities and the scores' gradients to 16 bits.
func TestTensorAttention(t *testing.T) {
	for _, d := range []ir.DType{ir.BFloat16, ir.Float16} {
		for i, c := range some(flashCases()) {
			t.Run(fmt.Sprint(d, i), func(t *testing.T) {
				r, m, l := generator(41), newTestGPU(t), c.layouts()
				q, k, v := numbers(r, d, l[0]), numbers(r, d, l[1]), numbers(r, d, l[2])
				in := []array{rowMajorCopy(q, l[0]).as(ir.Float64), rowMajorCopy(k, l[1]).as(ir.Float64), rowMajorCopy(v, l[2]).as(ir.Float64)}
				pq, pk, pv := m.put(q), m.put(k), m.put(v)
				o := TensorAttention{Attention: Attention{DType: d, Causal: c.causal, Scale: c.op().Scale, Q: l[0], K: l[1], V: l[2], Added: c.added, Joined: c.joined}}
				if !o.Fits([3]int{}) {
					t.Fatal("the kernels do not fit")
				}
				var extra []array
				var pa Pointer
				if c.added != nil {
					a := random(r, ir.Float32, c.added...)
					if c.hide {
						a, o.Added16 = random(r, d, c.added...), true
						for i := range a.data {
							if r.IntN(4) == 0 || i/33%17 == 3 {
								a.data[i] = math.Inf(-1)
							}
						}
					}
					extra, pa = []array{a.as(ir.Float64)}, m.put(a)
				}
				unit := 1.0 / 256 // rounding error of bfloat16
				if d == ir.Float16 {
					unit /= 8
				}
				y := newArray(ir.Float64, c.b*c.h*c.t*(c.e+1))
				py := m.alloc(len(y.data) * 4)
				launches, err := o.Launches(py, pq, pk, pv, pa)
				if err != nil {
					t.Fatal(err)
				}
				m.run(launches)
				want := reference(t, c.op(), nil, append(in[:3:3], extra...), nil, y)
				compareArrays(t, m.get(py, ir.Float32, y.shape), want, 2*unit)

				dy := random(r, d, c.b, c.t, c.h, c.e)
				dx := newArray(ir.Float64, c.b*c.h*(c.t*c.d+c.s*c.d+c.s*c.e))
				pdx := m.alloc(len(dx.data) * 4)
				launches, err = o.Gradient(pdx, pq, pk, pv, m.put(want.as(ir.Float32)), m.put(dy), pa, m.alloc(o.GradientWorkspace()))
				if err != nil {
					t.Fatal(err)
				}
				m.run(launches)
				want = reference(t, ir.AttentionGradient{Attention: c.op(), Joined: c.joined}, nil, append([]array{in[0], in[1], in[2], want, dy.as(ir.Float64)}, extra...), nil, dx)
				compareArrays(t, m.get(pdx, ir.Float32, dx.shape), want, 4*unit)

				// Rounded to 16 bits, the gradients are what they are in float32.
				o.Round = true
				short := m.alloc(len(dx.data) * 2)
				launches, err = o.Gradient(short, pq, pk, pv, py, m.put(dy), pa, m.alloc(o.GradientWorkspace()))
				if err != nil {
					t.Fatal(err)
				}
				exact, err := TensorAttention{Attention: o.Attention, Added16: o.Added16}.Gradient(pdx, pq, pk, pv, py, m.put(dy), pa, m.alloc(o.GradientWorkspace()))
				if err != nil {
					t.Fatal(err)
				}
				m.run(append(launches, exact...))
				rounded := m.get(pdx, ir.Float32, dx.shape)
				for i, x := range rounded.data {
					rounded.data[i] = number64(d, x)
				}
				compareArrays(t, m.get(short, d, dx.shape), rounded, 0)

				// So is the result, but not the logarithms behind it; and its gradient reads it.
				n := len(y.data) - c.b*c.h*c.t
				half := m.alloc(2*n + 4*c.b*c.h*c.t)
				launches, err = o.Launches(half, pq, pk, pv, pa)
				if err != nil {
					t.Fatal(err)
				}
				m.run(launches)
				full := m.get(py, ir.Float32, y.shape)
				for i, x := range full.data[:n] {
					full.data[i] = number64(d, x)
				}
				compareArrays(t, m.get(half, d, []int{n}), array{d, []int{n}, full.data[:n]}, 0)
				sums := m.get(half+Pointer(2*n), ir.Float32, []int{len(y.data) - n})
				compareArrays(t, sums, array{ir.Float32, sums.shape, full.data[n:]}, 0)
				widened := m.put(full.as(ir.Float32))
				same, err := TensorAttention{Attention: o.Attention, Added16: o.Added16}.Gradient(pdx, pq, pk, pv, widened, m.put(dy), pa, m.alloc(o.GradientWorkspace()))
				if err != nil {
					t.Fatal(err)
				}
				fromHalf := TensorAttention{Attention: o.Attention, Added16: o.Added16}
				fromHalf.Y = d
				got := m.alloc(len(dx.data) * 4)
				launches, err = fromHalf.Gradient(got, pq, pk, pv, half, m.put(dy), pa, m.alloc(o.GradientWorkspace()))
				if err != nil {
					t.Fatal(err)
				}
				m.run(append(launches, same...))
				compareArrays(t, m.get(got, ir.Float32, dx.shape), m.get(pdx, ir.Float32, dx.shape), 0)
			})
		}
	}
}

func TestTensorAttentionFits(t *testing.T) {
	l := ir.RowMajor([]int{1, 1, 8, 64})
	fits := TensorAttention{Attention: Attention{DType: ir.BFloat16, Q: l, K: l, V: l}}
	if !fits.Fits([3]int{8, 0, 16}) {
		t.Error("an ordinary head does not fit")
	}
	if fits.Fits([3]int{4, 0, 0}) {
		t.Error("an offset of 8 bytes fits")
	}
	single := fits
	single.DType = ir.Float32
	wide := fits
	wide.V = ir.RowMajor([]int{1, 1, 8, 32})
	transposed := fits
	transposed.K = swapped(1, 1, 8, 64)
	for name, o := range map[string]TensorAttention{"float32": single, "wider values": wide, "neighbors along rows": transposed} {
		if o.Fits([3]int{}) {
			t.Errorf("%s: fits", name)
		}
	}
}
