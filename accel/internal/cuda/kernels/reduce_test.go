package kernels

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// cubes are shapes [outer, n, inner] that need one pass or two, and warps or blocks.
var cubes = [][3]int{{1, 1, 1}, {3, 31, 1}, {2, 1500, 1}, {1, 20000, 1}, {129, 0, 1}, {1, 33, 33}, {2, 200, 5}, {1, 700, 129}, {7, 3, 64}, {0, 3, 4}, {3, 0, 2}}

func TestSum(t *testing.T) {
	eachStored(t, func(t *testing.T, d, xType, _, yType ir.DType, tolerance func(float64) float64) {
		if yType == d && xType != d {
			tolerance = func(single float64) float64 { return single }
		}
		for _, s := range some(cubes) {
			for _, mean := range []bool{false, true} {
				m, x := newTestGPU(t), random(generator(5), xType, s[0], s[1], s[2])
				o := Sum{d, s[0], s[1], s[2], mean, xType, yType}
				y := m.alloc(s[0] * s[2] * yType.Size())
				m.run(o.Launches(y, m.put(x), m.alloc(o.Workspace())))
				want := reference(t, ir.Sum{From: 1, To: 2, Mean: mean}, nil, []array{x.as(ir.Float64)}, nil, newArray(ir.Float64, s[0], s[2]))
				compareArrays(t, m.get(y, yType, want.shape), want, tolerance(1e-6))
			}
		}
	})
}

// The mean of equal numbers is the number.
func TestMeanOfEqualNumbers(t *testing.T) {
	for _, s := range some([][3]int{{3, 41, 1}, {2, 1500, 1}, {1, 20001, 1}, {1, 49, 33}, {2, 207, 5}, {1, 701, 129}}) {
		for _, v := range []float32{0.1, 3, -1e30, 1e-30} {
			m, x := newTestGPU(t), newArray(ir.Float32, s[0], s[1], s[2])
			for i := range x.data {
				x.data[i] = float64(v)
			}
			o := Sum{ir.Float32, s[0], s[1], s[2], true, ir.Float32, ir.Float32}
			y := m.alloc(s[0] * s[2] * 4)
			m.run(o.Launches(y, m.put(x), m.alloc(o.Workspace())))
			for i, got := range m.get(y, ir.Float32, []int{s[0], s[2]}).data {
				if float32(got) != v {
					t.Errorf("%v: mean %d of %v is %v", s, i, v, got)
					break
				}
			}
		}
	}
}

func TestMax(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, _ func(float64) float64) {
		for _, s := range some(cubes) {
			if s[1] == 0 {
				continue
			}
			for _, odd := range []float64{0, math.NaN(), math.Inf(1), math.Inf(-1)} {
				r := generator(6)
				m, x := newTestGPU(t), random(r, d, s[0], s[1], s[2])
				for i := range x.data { // with many equal elements
					x.data[i] = math.Round(x.data[i])
					if odd != 0 && r.IntN(20) == 0 {
						x.data[i] = odd
					}
				}
				shape := []int{s[0], s[2]}
				compareArrays(t, m.compute(ir.Max{Axis: 1}, d, shape, x), reference(t, ir.Max{Axis: 1}, nil, []array{x}, nil, newArray(ir.Float64, shape...)), 0)
				compareArrays(t, m.compute(ir.ArgMax{Axis: 1}, ir.Int32, shape, x), reference(t, ir.ArgMax{Axis: 1}, nil, []array{x.as(ir.Float64)}, nil, newArray(ir.Int32, shape...)), 0)
			}
		}
	})
}

// TestArgSort sorts rows within a block, and rows that one and more passes merge, with many equal
// elements.
func TestArgSort(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, _ func(float64) float64) {
		for _, s := range some([][3]int{{3, 5, 5}, {2, 2049, 2049}, {1, 9000, 2100}, {700, 3, 2}, {2, 2048, 1}, {1, 1, 1}, {3, 33, 0}, {0, 5, 5}, {3, 4096, 4096}, {1, 4500, 3}}) {
			for _, descending := range []bool{false, true} {
				r := generator(9)
				m, x := newTestGPU(t), random(r, d, s[0], s[1])
				for i := range x.data {
					x.data[i] = math.Round(20 * x.data[i])
					if r.IntN(9) == 0 {
						x.data[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[r.IntN(4)]
					}
				}
				op := ir.ArgSort{K: s[2], Descending: descending}
				want := reference(t, op, nil, []array{x}, nil, newArray(ir.Int32, s[0], s[2]))
				compareArrays(t, m.compute(op, ir.Int32, want.shape, x), want, 0)
			}
		}
	})
}

func TestCumSum(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, tolerance func(float64) float64) {
		for _, s := range some(cubes) {
			for _, reverse := range []bool{false, true} {
				m, x := newTestGPU(t), random(generator(7), d, s[0], s[1], s[2])
				op := ir.CumSum{Axis: 1, Reverse: reverse}
				want := reference(t, op, nil, []array{x}, nil, newArray(ir.Float64, x.shape...))
				compareArrays(t, m.compute(op, d, x.shape, x), want, tolerance(1e-6))
			}
		}
	})
}

func TestPool(t *testing.T) {
	one := [2]int{1, 1}
	for _, w := range []ir.Pool{
		{Kernel: [2]int{2, 2}, Stride: [2]int{2, 2}, Dilation: one},
		{Kernel: [2]int{3, 2}, Stride: [2]int{2, 1}, Padding: [2]int{1, 1}, Dilation: one},
		{Kernel: [2]int{3, 3}, Stride: one, Padding: [2]int{1, 0}, Dilation: [2]int{2, 3}},
		{Kernel: [2]int{1, 2}, Stride: [2]int{3, 4}, Dilation: one},
	} {
		eachStored(t, func(t *testing.T, d, xType, dyType, yType ir.DType, tolerance func(float64) float64) {
			for i, s := range [][4]int{{1, 1, 5, 7}, {2, 3, 9, 12}, {2, 3, 9, 12}, {0, 2, 5, 7}, {1, 5, 5, 7}} {
				r := generator(8)
				m, x := newTestGPU(t), random(r, xType, s[:]...)
				for i := range x.data { // with equal elements and NaN
					x.data[i] = math.Round(x.data[i])
				}
				if len(x.data) > 40 {
					x.data[33] = math.NaN()
				}
				shape := []int{s[0], s[1], 0, 0}
				for i := range 2 {
					shape[2+i] = (s[2+i]+2*w.Padding[i]-w.Dilation[i]*(w.Kernel[i]-1)-1)/w.Stride[i] + 1
				}
				o := Pool{d, s[0] * s[1], s[2], s[3], shape[2], shape[3], 1, w.Kernel, w.Stride, w.Padding, w.Dilation, xType, dyType, yType}
				order := func(a array) array { return a }
				if i%2 == 0 {
					o.Planes, o.Channels, order = s[0], s[1], last
				}
				dy, px := random(r, dyType, shape...), m.put(order(x))
				pdy, y, dx := m.put(order(dy)), m.alloc(len(dy.data)*yType.Size()), m.alloc(len(x.data)*yType.Size())
				small, large := newArray(ir.Float64, shape...), newArray(ir.Float64, s[:]...)
				m.run(o.Max(y, px))
				wantY := reference(t, ir.MaxPool2D{Pool: w}, nil, []array{x.as(ir.Float64)}, nil, small)
				compareArrays(t, m.get(y, yType, shape), order(wantY), 0)
				m.run(o.MaxGradient(dx, px, pdy))
				compareArrays(t, m.get(dx, yType, s[:]), order(reference(t, ir.MaxPool2DGradient{Pool: w}, nil, []array{x.as(ir.Float64), wantY, dy.as(ir.Float64)}, nil, large)), tolerance(1e-6))
				if w.Dilation != one {
					continue
				}
				m.run(o.Mean(y, px))
				compareArrays(t, m.get(y, yType, shape), order(reference(t, ir.AvgPool2D{Pool: w}, nil, []array{x.as(ir.Float64)}, nil, small)), tolerance(1e-6))
				m.run(o.MeanGradient(dx, pdy))
				compareArrays(t, m.get(dx, yType, s[:]), order(reference(t, ir.AvgPool2DGradient{Pool: w, H: s[2], W: s[3]}, nil, []array{dy.as(ir.Float64)}, nil, large)), tolerance(1e-6))
			}
		})
	}
}

func TestScatterAdd(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, _ func(float64) float64) {
		for _, s := range [][3]int{{1, 1, 1}, {40, 7, 1}, {100, 3, 33}, {33, 129, 300}, {0, 4, 5}, {5, 2, 0}} {
			r := generator(9)
			m, x, index := newTestGPU(t), random(r, d, s[0], s[2]), below(r, s[1], s[0])
			// The order of additions is the CPU's, so the bits are equal too.
			op := ir.IndexAdd{Rows: s[1], Row: []int{s[2]}}
			want := reference(t, op, nil, []array{x, index}, nil, newArray(d, s[1], s[2]))
			compareArrays(t, m.compute(op, d, want.shape, x, index), want, 0)
		}
	})
}
