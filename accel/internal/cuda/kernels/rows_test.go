package kernels

import (
	"fmt"
	"testing"

	"github.com/quernlab/quern/accel/internal/ir"
)

// rowShapes are few and many rows, short rows and rows that need a whole block.
var rowShapes = [][2]int{{1, 1}, {3, 31}, {9, 33}, {17, 127}, {2, 129}, {1, 1025}, {3, 2500}, {0, 5}}

// eachStored runs a test for float32, float64, and kernels in float32 that read x and dy and write
// y as 16-bit floats or some of them; tolerance returns its argument for float32, and what
// rounding may add for 16 bits.
func eachStored(t *testing.T, f func(t *testing.T, d, x, dy, y ir.DType, tolerance func(float64) float64)) {
	eachReal(t, func(t *testing.T, d ir.DType, tolerance func(float64) float64) { f(t, d, d, d, d, tolerance) })
	for _, c := range some([][3]ir.DType{
		{ir.BFloat16, ir.BFloat16, ir.BFloat16}, {ir.Float16, ir.Float16, ir.Float16}, {ir.Float32, ir.BFloat16, ir.Float32},
		{ir.Float32, ir.Float32, ir.Float16}, {ir.Float16, ir.Float32, ir.BFloat16},
	}) {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			f(t, ir.Float32, c[0], c[1], c[2], func(single float64) float64 {
				switch c[2] {
				case ir.BFloat16:
					return 1.0/256 + single
				case ir.Float16:
					return 1.0/2048 + single
				}
				return single
			})
		})
	}
}

func TestSoftmax(t *testing.T) {
	eachStored(t, func(t *testing.T, d, dx, _, dy ir.DType, tolerance func(float64) float64) {
		for _, s := range some(rowShapes) {
			for _, log := range []bool{false, true} {
				m, x := newTestGPU(t), random(generator(1), dx, s[0], s[1])
				for i := range x.data {
					x.data[i] *= 8
				}
				y := m.alloc(len(x.data) * dy.Size())
				m.run(Softmax{d, log, s[0], s[1], dy, dx}.Launches(y, m.put(x)))
				var op ir.Op = ir.Softmax{}
				if log {
					op = ir.LogSoftmax{}
				}
				want := reference(t, op, nil, []array{x.as(ir.Float64)}, nil, newArray(ir.Float64, x.shape...))
				compareArrays(t, m.get(y, dy, x.shape), want, tolerance(3e-6))
			}
		}
	})
}

func TestCrossEntropy(t *testing.T) {
	eachStored(t, func(t *testing.T, d, xType, _, dxType ir.DType, tolerance func(float64) float64) {
		for _, s := range some(rowShapes[:7]) {
			r := generator(2)
			m, x, label, dy := newTestGPU(t), random(r, xType, s[0], s[1]), below(r, s[1], s[0]), random(r, d)
			o := CrossEntropy{d, s[0], s[1], xType, dxType}
			y, dx, px, pl := m.alloc(d.Size()), m.alloc(len(x.data)*dxType.Size()), m.put(x), m.put(label)
			m.run(o.Launches(y, px, pl, m.fault(), m.alloc(o.Workspace())))
			x = x.as(ir.Float64)
			want := reference(t, ir.CrossEntropy{}, nil, []array{x, label}, nil, newArray(ir.Float64))
			loss := 1e-6
			if d == ir.Float64 {
				loss = tolerance(loss)
			}
			compareArrays(t, m.get(y, d, nil), want, loss)
			m.run(o.Gradient(dx, px, pl, m.put(dy), m.fault()))
			want = reference(t, ir.CrossEntropyGradient{}, nil, []array{x, label, dy.as(ir.Float64)}, nil, newArray(ir.Float64, x.shape...))
			compareArrays(t, m.get(dx, dxType, x.shape), want, tolerance(1e-6))
		}
	})
}

func TestNorm(t *testing.T) {
	eachStored(t, func(t *testing.T, d, xType, dyType, yType ir.DType, tolerance func(float64) float64) {
		for _, s := range some(append(rowShapes, [2]int{70, 40})) {
			for _, centered := range []bool{false, true} {
				r := generator(3)
				m, x, dy, w, b := newTestGPU(t), random(r, xType, s[0], s[1]), random(r, dyType, s[0], s[1]), random(r, d, s[1]), random(r, d, s[1])
				o := Norm{d, centered, 1e-5, s[0], s[1], xType, dyType, yType}
				px, pdy, pw := m.put(x), m.put(dy), m.put(w)
				y, dx, dw := m.alloc(len(x.data)*yType.Size()), m.alloc(len(x.data)*yType.Size()), m.alloc(2*s[1]*d.Size())
				m.run(o.Launches(y, px, pw, m.put(b)))
				m.run(o.InputGradient(dx, px, pdy, pw))
				m.run(o.WeightGradient(dw, px, pdy, m.alloc(o.WeightWorkspace())))
				x, dy, w, b = x.as(ir.Float64), dy.as(ir.Float64), w.as(ir.Float64), b.as(ir.Float64)
				all := newArray(ir.Float64, x.shape...)
				layer := ir.LayerNorm{Epsilon: 1e-5}
				rms := ir.RMSNorm{Epsilon: 1e-5}
				forward, parameters, rows := ir.Op(rms), []array{x, w}, 1
				var input, weight ir.Op = ir.RMSNormInputGradient{RMSNorm: rms}, ir.RMSNormWeightGradient{RMSNorm: rms}
				if centered {
					forward, parameters, rows = layer, []array{x, w, b}, 2
					input, weight = ir.LayerNormInputGradient{LayerNorm: layer}, ir.LayerNormWeightGradient{LayerNorm: layer}
				}
				if s[1] == 1 && centered {
					continue // x̂ is 0/√ε: the gradient consists of rounding errors
				}
				compareArrays(t, m.get(y, yType, x.shape), reference(t, forward, nil, parameters, nil, all), tolerance(1e-5))
				compareArrays(t, m.get(dx, yType, x.shape), reference(t, input, nil, []array{x, dy, w}, nil, all), tolerance(2e-5))
				within := 2e-5
				if d == ir.Float64 {
					within = tolerance(within)
				}
				wantW := newArray(ir.Float64, rows, s[1])
				compareArrays(t, m.get(dw, d, wantW.shape), reference(t, weight, nil, []array{x, dy}, nil, wantW), within)
			}
		}
	})
}

func TestBatchNorm(t *testing.T) {
	for _, s := range [][3]int{{2, 1, 1}, {1, 3, 33}, {5, 2, 129}, {3, 31, 7}, {2, 2, 3000}, {37, 5, 49}, {0, 3, 4}, {4, 0, 3}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			eachStored(t, func(t *testing.T, d, xType, dyType, yType ir.DType, tolerance func(float64) float64) {
				r := generator(4)
				m, shape := newTestGPU(t), []int{s[0], s[1], s[2]}
				x, dy, w, b := random(r, xType, shape...), random(r, dyType, shape...), random(r, d, s[1]), random(r, d, s[1])
				for i := range x.data { // far from 0, so that an unstable formula cancels
					x.data[i] = number64(xType, x.data[i]+30)
				}
				statistics := random(r, d, 2, s[1])
				for i := range s[1] {
					statistics.data[i] += 30
					statistics.data[s[1]+i] = number64(d, 0.5+statistics.data[s[1]+i]*statistics.data[s[1]+i])
					statistics.data[i] = number64(d, statistics.data[i])
				}
				o := BatchNorm{d, 1e-5, s[0], s[1], s[2], xType, dyType, yType}
				n := len(x.data) * yType.Size()
				px, pdy, pw, ps := m.put(x), m.put(dy), m.put(w), m.put(statistics)
				all, pair := newArray(ir.Float64, shape...), newArray(ir.Float64, 2, s[1])
				if s[0] > 0 {
					found := m.alloc(len(pair.data) * d.Size())
					m.run(o.Statistics(found, px, m.alloc(o.Workspace())))
					compareArrays(t, m.get(found, d, pair.shape), reference(t, ir.BatchStatistics{}, nil, []array{x.as(ir.Float64)}, nil, pair), single(d, tolerance, 3e-6))
				}
				for _, training := range []bool{false, true} {
					op := ir.BatchNorm{Epsilon: 1e-5, Training: training}
					y, dx, sums := m.alloc(n), m.alloc(n), m.alloc(len(pair.data)*d.Size())
					m.run(o.Launches(y, px, ps, pw, m.put(b), training))
					var relu ir.Op
					if training {
						relu = ir.ReLU{}
					}
					want := reference(t, op, nil, []array{x.as(ir.Float64), statistics, w, b}, nil, all)
					if relu != nil {
						for i, v := range want.data {
							want.data[i] = max(v, 0)
						}
					}
					compareArrays(t, m.get(y, yType, shape), want, tolerance(1e-5))
					m.run(o.Sums(sums, px, pdy, ps, m.alloc(o.Workspace())))
					wantSums := reference(t, ir.BatchNormSums{BatchNorm: op}, nil, []array{x.as(ir.Float64), dy.as(ir.Float64), statistics}, nil, pair)
					compareArrays(t, m.get(sums, d, pair.shape), wantSums, single(d, tolerance, 5e-5))
					exact := random(r, d, 2, s[1])
					m.run(o.InputGradient(dx, px, pdy, ps, pw, m.put(exact), training))
					want = reference(t, ir.BatchNormInputGradient{BatchNorm: op}, nil, []array{x.as(ir.Float64), dy.as(ir.Float64), statistics, w, exact}, nil, all)
					compareArrays(t, m.get(dx, yType, shape), want, tolerance(2e-5))
				}
			})
		})
	}
}

// single is a tolerance of what is of the type of the computation d.
func single(d ir.DType, tolerance func(float64) float64, within float64) float64 {
	if d == ir.Float64 {
		return tolerance(within)
	}
	return within
}
