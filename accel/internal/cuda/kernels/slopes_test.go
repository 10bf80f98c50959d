package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestSlopes multiplies products with the slopes of activations, at NaN and infinities, too, and compares
// with the gradient of the product that was rounded to its type.
func TestSlopes(t *testing.T) {
	cases := some([]matmulCase{
		{"odd", rowMajor(33, 17), rowMajor(17, 65), false, false},
		{"a batch", rowMajor(2, 9, 24), rowMajor(2, 24, 16), false, false},
		{"deep", rowMajor(16, 1544), swapped(1544, 24), false, false},
		{"more than a tile", swapped(136, 40), rowMajor(40, 264), false, false},
	})
	for _, gradient := range []ir.Op{ir.ReLUGradient{}, ir.GELUGradient{}, ir.GELUTanhGradient{}} {
		for _, p := range cases {
			for _, k := range []struct {
				name string
				d, y ir.DType
				of   func(MatMul) matmulKernels
			}{
				{"gemm", ir.Float32, ir.Float32, func(o MatMul) matmulKernels { return o }},
				{"mma", ir.BFloat16, ir.BFloat16, func(o MatMul) matmulKernels { return TensorMatMul{o, true} }},
				{"mma", ir.Float16, ir.Float16, func(o MatMul) matmulKernels { return TensorMatMul{o, true} }},
				{"wgmma", ir.BFloat16, ir.BFloat16, func(o MatMul) matmulKernels { return HopperMatMul{TensorMatMul{o, true}} }},
				{"wgmma", ir.BFloat16, ir.Float32, func(o MatMul) matmulKernels { return HopperMatMul{TensorMatMul{o, false}} }},
			} {
				plain := MatMul{DType: k.d, A: p.a, B: p.b}
				if h, ok := k.of(plain).(HopperMatMul); ok && !h.Fits(0, 0) {
					continue
				}
				t.Run(fmt.Sprint(gradient.Name(), " ", p.name, " ", k.name, " ", k.d, " ", k.y), func(t *testing.T) {
					r := generator(28)
					m, a, b := newTestGPU(t), numbers(r, k.d, p.a), numbers(r, k.d, p.b)
					shape := p.want(t, a, b, array{}).shape
					x := random(r, k.y, shape...)
					for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e4, -1e4, 1e-5, 5, -5} {
						x.data[i] = number64(k.y, v)
					}
					pa, pb, px := m.put(a), m.put(b), m.put(x)
					run := func(o MatMul) array {
						y := m.alloc(len(x.data) * k.y.Size())
						launches, err := k.of(o).Launches(Addresses{In: []Pointer{pa, pb, px}, Out: []Pointer{y}, Work: m.alloc(k.of(o).Workspace())})
						if err != nil {
							t.Fatal(err)
						}
						m.run(launches)
						return m.get(y, k.y, shape)
					}
					dy := run(plain)
					plain.End = gradient
					want := reference(t, gradient, nil, []array{dy.as(ir.Float64), x.as(ir.Float64)}, nil, newArray(ir.Float64, shape...))
					tolerance := 1e-5
					switch k.y {
					case ir.BFloat16:
						tolerance = 1.0 / 256
					case ir.Float16:
						tolerance = 1.0 / 2048
					}
					// 1 + tanh loses digits.
					for _, v := range dy.data {
						tolerance = max(tolerance, 2e-6*math.Abs(v))
					}
					compareArrays(t, run(plain), want, tolerance)
				})
			}
		}
	}
}

// TestActivations applies activations to products, also of NaN and infinities, and compares with the activation of the product
// that was rounded to its type, which is stored, too, or not.
func TestActivations(t *testing.T) {
	cases := some([]matmulCase{
		{"odd", rowMajor(33, 17), rowMajor(17, 65), true, false},
		{"a batch", rowMajor(2, 9, 24), rowMajor(2, 24, 16), false, false},
		{"deep", rowMajor(16, 1544), swapped(1544, 24), true, false},
		{"more than a tile", swapped(136, 40), rowMajor(40, 264), true, false},
	})
	for _, activation := range []ir.Op{ir.GELU{}, ir.GELUTanh{}} {
		for i, p := range cases {
			for j, k := range summing {
				keeps := (i+j)%2 == 0
				plain := MatMul{DType: k.d, A: p.a, B: p.b, Bias: p.bias}
				if h, ok := k.of(plain).(HopperMatMul); k.d == ir.Float64 || ok && !h.Fits(0, 0) {
					continue
				}
				t.Run(fmt.Sprint(activation.Name(), " ", p.name, " ", k.name, " ", k.d, " ", keeps), func(t *testing.T) {
					r := generator(33)
					m, a, b := newTestGPU(t), numbers(r, k.d, p.a), numbers(r, k.d, p.b)
					for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 20, -20} { // in other rows, or for all
						a.data[i*17%len(a.data)] = v
					}
					shape := p.want(t, a, b, array{data: make([]float64, p.b.Shape[len(p.b.Shape)-1])}).shape
					pa, pb, bias := m.put(a), m.put(b), m.put(random(r, k.y, shape[len(shape)-1]))
					n := ir.Len(shape) * k.y.Size()
					run := func(o MatMul) (y, kept array) {
						at := Addresses{In: []Pointer{pa, pb, bias}, Out: []Pointer{m.alloc(n)}, Work: m.alloc(k.of(o).Workspace())}
						if o.Keeps {
							at.Out = append(at.Out, m.alloc(n))
						}
						launches, err := k.of(o).Launches(at)
						if err != nil {
							t.Fatal(err)
						}
						m.run(launches)
						return m.get(at.Out[0], k.y, shape), m.get(at.Out[len(at.Out)-1], k.y, shape)
					}
					x, _ := run(plain)
					plain.End, plain.Keeps = activation, keeps
					y, kept := run(plain)
					if keeps {
						compareArrays(t, kept, x, 0)
					}
					tolerance := map[ir.DType]float64{ir.Float32: 1e-5, ir.BFloat16: 1.0 / 256, ir.Float16: 1.0 / 2048}[k.y]
					compareArrays(t, y, reference(t, activation, nil, []array{x.as(ir.Float64)}, nil, newArray(ir.Float64, shape...)), tolerance)
				})
			}
		}
	}
}
