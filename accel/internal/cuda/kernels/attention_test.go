package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

type attentionCase struct {
	b, h, t, s, d, e int
	causal           bool
	added            []int
	hide             bool // some of added are -Inf, for one query all
	transposed       bool // queries, keys and values have the memory order [B, T, H, D]
	joined           bool // the gradients are side by side
}

func attentionCases() []attentionCase {
	return []attentionCase{
		{b: 1, h: 1, t: 1, s: 1, d: 1, e: 1},
		{b: 2, h: 3, t: 33, s: 31, d: 8, e: 5},
		{b: 1, h: 2, t: 70, s: 70, d: 32, e: 32, causal: true},
		{b: 1, h: 2, t: 65, s: 129, d: 64, e: 64, transposed: true},
		{b: 2, h: 2, t: 40, s: 20, d: 16, e: 70, causal: true, transposed: true},
		{b: 2, h: 2, t: 17, s: 33, d: 16, e: 16, added: []int{2, 1, 17, 33}, hide: true},
		{b: 2, h: 2, t: 17, s: 33, d: 16, e: 16, added: []int{1, 2, 1, 33}, causal: true},
		{b: 1, h: 1, t: 5, s: 7, d: 0, e: 3},
		{b: 1, h: 1, t: 0, s: 7, d: 4, e: 3},
		{b: 1, h: 1, t: 66, s: 66, d: 100, e: 128, causal: true},
		{b: 2, h: 3, t: 65, s: 65, d: 6, e: 6, causal: true, joined: true},
	}
}

// layouts returns the layouts of queries, keys and values.
func (c attentionCase) layouts() [3]ir.Layout {
	var out [3]ir.Layout
	for i, s := range [][2]int{{c.t, c.d}, {c.s, c.d}, {c.s, c.e}} {
		out[i] = ir.RowMajor([]int{c.b, c.h, s[0], s[1]})
		if c.transposed {
			l := ir.RowMajor([]int{c.b, s[0], c.h, s[1]})
			out[i] = ir.Layout{Shape: []int{c.b, c.h, s[0], s[1]}, Stride: []int{l.Stride[0], l.Stride[2], l.Stride[1], l.Stride[3]}}
		}
	}
	return out
}

// rowMajorCopy returns the elements of a layout in row-major order.
func rowMajorCopy(a array, l ir.Layout) array {
	out := newArray(a.dtype, l.Shape...)
	index := make([]int, len(l.Shape))
	for i := range out.data {
		at := l.Offset
		for d, k := range index {
			at += k * l.Stride[d]
		}
		out.data[i] = a.data[at]
		for d := len(index) - 1; d >= 0; d-- {
			if index[d]++; index[d] < l.Shape[d] {
				break
			}
			index[d] = 0
		}
	}
	return out
}

func (c attentionCase) op() ir.Attention {
	return ir.Attention{Causal: c.causal, Scale: 1 / math.Sqrt(float64(max(c.d, 1)))}
}

func TestAttention(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, tolerance func(float64) float64) {
		for i, c := range some(attentionCases()) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				r, m, l := generator(40), newTestGPU(t), c.layouts()
				q, k, v := numbers(r, d, l[0]), numbers(r, d, l[1]), numbers(r, d, l[2])
				in := []array{rowMajorCopy(q, l[0]), rowMajorCopy(k, l[1]), rowMajorCopy(v, l[2])}
				pq, pk, pv := m.put(q), m.put(k), m.put(v)
				var extra []array
				var pa Pointer
				if c.added != nil {
					a := random(r, d, c.added...)
					if c.hide {
						for i := range a.data {
							if r.IntN(4) == 0 || i/33%17 == 3 {
								a.data[i] = math.Inf(-1)
							}
						}
					}
					extra, pa = []array{a}, m.put(a)
				}
				o := Attention{DType: d, Causal: c.causal, Scale: c.op().Scale, Q: l[0], K: l[1], V: l[2], Added: c.added, Joined: c.joined}
				y := newArray(ir.Float64, c.b*c.h*c.t*(c.e+1))
				py := m.alloc(len(y.data) * d.Size())
				launches, err := o.Launches(py, pq, pk, pv, pa)
				if err != nil {
					t.Fatal(err)
				}
				m.run(launches)
				want := reference(t, c.op(), nil, append(in[:3:3], extra...), nil, y)
				compareArrays(t, m.get(py, d, y.shape), want, tolerance(1e-5))

				dy := random(r, d, c.b, c.t, c.h, c.e)
				dx := newArray(ir.Float64, c.b*c.h*(c.t*c.d+c.s*c.d+c.s*c.e))
				pdx := m.alloc(len(dx.data) * d.Size())
				launches, err = o.Gradient(pdx, pq, pk, pv, m.put(want.as(d)), m.put(dy), pa, m.alloc(o.GradientWorkspace()))
				if err != nil {
					t.Fatal(err)
				}
				m.run(launches)
				want = reference(t, ir.AttentionGradient{Attention: c.op(), Joined: c.joined}, nil, append([]array{in[0], in[1], in[2], want, dy}, extra...), nil, dx)
				compareArrays(t, m.get(pdx, d, dx.shape), want, tolerance(2e-5))

				// The result may have been rounded to 16 bits, but not the logarithms behind it.
				if d != ir.Float32 {
					return
				}
				n := len(y.data) - c.b*c.h*c.t
				if n%2 != 0 {
					return
				}
				full := m.get(py, d, y.shape)
				for i, x := range full.data[:n] {
					full.data[i] = number64(ir.BFloat16, x)
				}
				half := m.write(append(array{ir.BFloat16, nil, full.data[:n]}.bytes(), array{d, nil, full.data[n:]}.bytes()...))
				launches, err = o.Gradient(pdx, pq, pk, pv, m.put(full), m.put(dy), pa, m.alloc(o.GradientWorkspace()))
				if err != nil {
					t.Fatal(err)
				}
				o.Y = ir.BFloat16
				got := m.alloc(len(dx.data) * d.Size())
				short, err := o.Gradient(got, pq, pk, pv, half, m.put(dy), pa, m.alloc(o.GradientWorkspace()))
				if err != nil {
					t.Fatal(err)
				}
				m.run(append(launches, short...))
				compareArrays(t, m.get(got, d, dx.shape), m.get(pdx, d, dx.shape), 0)
			})
		}
	})
}
