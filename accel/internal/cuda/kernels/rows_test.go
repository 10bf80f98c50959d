package kernels

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
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
				var op ir.Op = ir.Softmax{}
				if log {
					op = ir.LogSoftmax{}
				}
				want := reference(t, op, nil, []array{x.as(ir.Float64)}, nil, newArray(ir.Float64, x.shape...))
				compareArrays(t, m.compute(op, dy, x.shape, x), want, tolerance(3e-6))
			}
		}
	})
}

func TestCrossEntropy(t *testing.T) { testCrossEntropy(t, ir.CrossEntropy{}) }

// TestMaskedCrossEntropy leaves out every second row, which has NaN.
func TestMaskedCrossEntropy(t *testing.T) {
	testCrossEntropy(t, ir.CrossEntropy{Masked: true, Ignored: -100})
}

func testCrossEntropy(t *testing.T, mask ir.CrossEntropy) {
	eachStored(t, func(t *testing.T, d, xType, _, dxType ir.DType, tolerance func(float64) float64) {
		for _, s := range some(rowShapes) {
			r := generator(2)
			m, x, label, dy := newTestGPU(t), random(r, xType, s[0], s[1]), below(r, s[1], s[0]), random(r, d)
			if mask.Masked {
				for i := 0; i < s[0]; i += 2 {
					label.data[i] = -100
					for k := range s[1] {
						x.data[i*s[1]+k] = math.NaN()
					}
				}
			}
			o := CrossEntropy{d, s[0], s[1], xType, dxType, mask}
			y, dx, px, pl := m.alloc(d.Size()), m.alloc(len(x.data)*dxType.Size()), m.put(x), m.put(label)
			m.run(o.Launches(y, px, pl, m.fault(), m.alloc(o.Workspace())))
			x = x.as(ir.Float64)
			want := newArray(ir.Float64)
			if want.data[0] = math.NaN(); s[0] > 0 { // the mean of no losses
				want = reference(t, mask, nil, []array{x, label}, nil, want)
			}
			loss := 1e-6
			if d == ir.Float64 {
				loss = tolerance(loss)
			}
			compareArrays(t, m.get(y, d, nil), want, loss)
			both, again := m.alloc(len(x.data)*dxType.Size()), m.alloc(d.Size())
			m.run(o.Gradient(dx, 0, px, pl, m.put(dy), false, m.fault(), 0))
			launches := o.Gradient(both, again, px, pl, m.put(dy.as(ir.Float64)), true, m.fault(), m.alloc(o.Workspace()))
			if len(launches) != 1 {
				t.Errorf("%d launches", len(launches))
			}
			m.run(launches)
			m.run(launches) // the blocks count how many have come
			compareArrays(t, m.get(again, d, nil), want, loss)
			want = newArray(ir.Float64, x.shape...)
			if s[0] > 0 {
				want = reference(t, ir.CrossEntropyGradient{CrossEntropy: mask}, nil, []array{x, label, dy.as(ir.Float64)}, nil, want)
			}
			compareArrays(t, m.get(dx, dxType, x.shape), want, tolerance(1e-6))
			compareArrays(t, m.get(both, dxType, x.shape), want, tolerance(1e-6))
		}
	})
}

// normOf returns the ops of a norm.
func normOf(centered bool, epsilon float64) (forward, input, weight ir.Op) {
	layer, rms := ir.LayerNorm{Epsilon: epsilon}, ir.RMSNorm{Epsilon: epsilon}
	if centered {
		return layer, ir.LayerNormInputGradient{LayerNorm: layer}, ir.LayerNormWeightGradient{LayerNorm: layer}
	}
	return rms, ir.RMSNormInputGradient{RMSNorm: rms}, ir.RMSNormWeightGradient{RMSNorm: rms}
}

func TestNorm(t *testing.T) {
	eachStored(t, func(t *testing.T, d, xType, dyType, yType ir.DType, tolerance func(float64) float64) {
		shapes := append(rowShapes, [][2]int{{70, 40}, {9, 64}, {3, 1024}, {1, 8200}}...)
		if xType == ir.BFloat16 && yType == ir.BFloat16 {
			shapes = append(shapes, [][2]int{{2130, 8}, {530, 1030}}...) // more rows than sums
		}
		for _, s := range some(shapes) {
			for _, centered := range []bool{false, true} {
				if s[0]*s[1] > 100000 && !centered {
					continue // one is enough of what takes long
				}
				r := generator(3)
				m, x, dy, w, b := newTestGPU(t), random(r, xType, s[0], s[1]), random(r, dyType, s[0], s[1]), random(r, d, s[1]), random(r, d, s[1])
				o := Norm{DType: d, Centered: centered, Epsilon: 1e-5, Rows: s[0], N: s[1], X: xType, DY: dyType, Y: yType, SumType: d, Addend: d, Copy: d}
				px, pdy, pw := m.put(x), m.put(dy), m.put(w)
				n, rows := len(x.data)*yType.Size(), o.results()
				y, dx, both, dw, alone := m.alloc(n), m.alloc(n), m.alloc(n), m.alloc(rows*s[1]*d.Size()), m.alloc(rows*s[1]*d.Size())
				m.run(o.Launches(NormOperands{Y: y, X: px, W: pw, B: m.put(b)}))
				m.run(o.Gradients(NormOperands{DX: dx, X: px, DY: pdy, W: pw}))
				m.run(o.Gradients(NormOperands{DX: both, DW: dw, X: px, DY: pdy, W: pw, Work: m.alloc(o.Workspace())}))
				m.run(o.Gradients(NormOperands{DW: alone, X: px, DY: pdy, Work: m.alloc(o.Workspace())}))
				compareArrays(t, m.get(both, yType, x.shape), m.get(dx, yType, x.shape), 0)
				wantW := newArray(ir.Float64, rows, s[1])
				compareArrays(t, m.get(alone, d, wantW.shape), m.get(dw, d, wantW.shape), 0)
				if s[1] == 1 && centered {
					continue // x̂ is 0/√ε: the gradient consists of rounding errors
				}
				x, dy, w, b = x.as(ir.Float64), dy.as(ir.Float64), w.as(ir.Float64), b.as(ir.Float64)
				all := newArray(ir.Float64, x.shape...)
				forward, input, weight := normOf(centered, 1e-5)
				compareArrays(t, m.get(y, yType, x.shape), reference(t, forward, nil, []array{x, w, b}[:1+rows], nil, all), tolerance(1e-5))
				compareArrays(t, m.get(dx, yType, x.shape), reference(t, input, nil, []array{x, dy, w}, nil, all), tolerance(2e-5))
				within := 2e-5
				if d == ir.Float64 {
					within = tolerance(within)
				}
				compareArrays(t, m.get(dw, d, wantW.shape), reference(t, weight, nil, []array{x, dy}, nil, wantW), within)
			}
		}
	})
}

// TestNormAround compares a norm that also adds, rounds and sums with the kernels of the norm alone,
// bit by bit: odd rows, more rows than a grid has warps, and rows of a block; equal elements, NaN, and
// operands that are not aligned.
func TestNormAround(t *testing.T) {
	type types struct{ x, dy, y, sum, addend, copy ir.DType }
	half := ir.BFloat16
	for k, c := range some([]types{
		{ir.Float32, half, ir.Float32, ir.Float32, ir.Float32, half},
		{half, half, half, half, half, half},
		{ir.Float16, ir.Float16, ir.Float32, ir.Float16, ir.Float16, ir.Float16},
		{ir.Float32, ir.Float32, ir.Float32, ir.Float32, ir.Float32, ir.Float32},
		{half, ir.Float32, ir.Float16, ir.Float32, half, half},
	}) {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			m := newTestGPU(t)
			for i, s := range some([][2]int{{1, 1}, {1, 8}, {3, 33}, {9, 64}, {2, 1024}, {2, 1025}, {2130, 8}, {5, 24}, {0, 8}}) {
				for j, centered := range []bool{false, true} {
					if s[0] > 1000 && (j+k)%2 == 0 {
						continue // each type is enough with or without a mean, with more rows than sums
					}
					testNormAround(t, m, Norm{
						DType: ir.Float32, Centered: centered, Epsilon: 1e-5, Rows: s[0], N: s[1],
						X: c.x, DY: c.dy, Y: c.y, SumType: c.sum, Addend: c.addend, Copy: c.copy,
						Terms: []ir.DType{c.dy, ir.Float32, c.x}[:(i+j+k)%4],
					}, i)
				}
			}
		})
	}
}

func testNormAround(t *testing.T, m *testGPU, o Norm, seed int) {
	t.Helper()
	r, shape := generator(uint64(50+seed)), []int{o.Rows, o.N}
	odd := 0 // elements before the first one
	put := func(a array) Pointer {
		data := array{a.dtype, []int{odd + len(a.data)}, append(make([]float64, odd), a.data...)}
		return m.put(data) + Pointer(odd*a.dtype.Size())
	}
	if seed%3 == 2 {
		odd = 1
	}
	values := func(d ir.DType) array {
		a := random(r, d, shape...)
		for i := range a.data {
			switch {
			case o.Rows > 3 && i/o.N == 1:
				a.data[i] = number64(d, 0.5) // a variance of 0
			case o.Rows > 3 && i == 3*o.N:
				a.data[i] = math.NaN()
			}
		}
		return a
	}
	sumOf := func(a array, terms []array) array {
		sum := newArray(o.SumType, shape...)
		for i := range sum.data {
			v := float32(a.data[i])
			for _, x := range terms {
				v += float32(x.data[i])
			}
			sum.data[i] = number64(o.SumType, float64(v))
		}
		return sum
	}
	w, b, addend := random(r, o.DType, o.N), random(r, o.DType, o.N), values(o.Addend)
	var terms []array
	var pterms []Pointer
	for _, d := range o.Terms {
		terms = append(terms, values(d))
		pterms = append(pterms, put(terms[len(terms)-1]))
	}
	size, pw, pb := len(addend.data), put(w), put(b)
	get := func(p Pointer, d ir.DType) array { return m.get(p, d, shape) }
	alone := o // reads the sum, and stores what is added to or rounded
	alone.Terms, alone.Y = nil, o.DType
	optional := func(yes bool, d ir.DType) Pointer {
		if !yes {
			return 0
		}
		return m.alloc(size * d.Size())
	}
	stores := len(terms) > 0 && seed%2 == 0
	rounded := func(a array, d ir.DType) array {
		y := newArray(d, shape...)
		for i, v := range a.data {
			y.data[i] = number64(d, v)
		}
		return y
	}

	x := values(o.X)
	s := x
	if len(terms) > 0 {
		s, alone.X = sumOf(x, terms), o.SumType
	}
	y, sum, short, want := m.alloc(size*o.Y.Size()), optional(stores, o.SumType), optional(seed%4 < 2, o.Copy), m.alloc(size*4)
	m.run(o.Launches(NormOperands{Y: y, X: put(x), W: pw, B: pb, Terms: pterms, Sum: sum, Copy: short}))
	m.run(alone.Launches(NormOperands{Y: want, X: put(s), W: pw, B: pb}))
	compareArrays(t, get(y, o.Y), rounded(get(want, o.DType), o.Y), 0)
	if short != 0 {
		compareArrays(t, get(short, o.Copy), rounded(get(want, o.DType), o.Copy), 0)
	}
	if sum != 0 {
		compareArrays(t, get(sum, o.SumType), s, 0)
	}

	dy := values(o.DY)
	s, alone.X = dy, o.X
	if len(terms) > 0 {
		s, alone.DY = sumOf(dy, terms), o.SumType
	}
	px, ps := put(x), put(s)
	dx, sum, short := m.alloc(size*o.Y.Size()), optional(stores, o.SumType), optional(seed%4 < 2, o.Copy)
	dw, wantW := m.alloc(o.results()*o.N*4), m.alloc(o.results()*o.N*4)
	adds := seed%4 > 0
	all := NormOperands{DX: dx, X: px, DY: put(dy), W: pw, Terms: pterms, Sum: sum, Copy: short, DW: dw, Work: m.alloc(o.Workspace())}
	if adds {
		all.Addend = put(addend)
	}
	m.run(o.Gradients(all))
	m.run(alone.Gradients(NormOperands{DX: want, X: px, DY: ps, W: pw}))
	m.run(alone.Gradients(NormOperands{DW: wantW, X: px, DY: ps, Work: m.alloc(o.Workspace())}))
	whole := get(want, o.DType)
	if adds {
		for i := range whole.data {
			whole.data[i] = float64(float32(whole.data[i]) + float32(addend.data[i]))
		}
	}
	compareArrays(t, get(dx, o.Y), rounded(whole, o.Y), 0)
	if short != 0 {
		compareArrays(t, get(short, o.Copy), rounded(whole, o.Copy), 0)
	}
	if sum != 0 {
		compareArrays(t, get(sum, o.SumType), s, 0)
	}
	compareArrays(t, m.get(dw, o.DType, []int{o.results(), o.N}), m.get(wantW, o.DType, []int{o.results(), o.N}), 0)
}

func TestBatchNorm(t *testing.T) {
	for _, s := range [][3]int{{2, 1, 1}, {1, 3, 33}, {5, 2, 129}, {3, 31, 7}, {2, 2, 3000}, {37, 5, 49}, {1, 1059, 2}, {0, 3, 4}, {4, 0, 3}, {3, 1, 180000},
		{700, 3, 1}, {300, 24, 1}, {90, 8, 1}, {33, 270, 1}, {5000, 16, 1}, {1, 8, 1}, {0, 8, 1}, {6, 0, 1}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			eachStored(t, func(t *testing.T, d, xType, dyType, yType ir.DType, tolerance func(float64) float64) {
				large := s[1] > 1000 || s[2] > 10000
				if large && (xType != ir.BFloat16 || underRace) {
					return // one is enough with more channels, or parts of a channel, than can meet
				}
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
					if large && !training {
						continue // the sums are the same
					}
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
					m.run(o.Sums(sums, px, pdy, ps, 0, 0, m.alloc(o.Workspace())))
					wantSums := reference(t, ir.BatchNormSums{BatchNorm: op}, nil, []array{x.as(ir.Float64), dy.as(ir.Float64), statistics}, nil, pair)
					compareArrays(t, m.get(sums, d, pair.shape), wantSums, single(d, tolerance, 5e-5))
					of, short := random(r, yType, shape...), dy // y of a ReLU
					short.data = slices.Clone(dy.data)
					for i := range of.data {
						if i%7 == 0 {
							of.data[i] = []float64{0, math.Copysign(0, -1), math.NaN()}[i%3]
						}
						if !(of.data[i] > 0) {
							short.data[i] = 0
						}
					}
					masked := m.alloc(len(dy.data) * dyType.Size())
					m.run(o.Sums(sums, px, pdy, ps, m.put(of), masked, m.alloc(o.Workspace())))
					compareArrays(t, m.get(masked, dyType, shape), short, 0)
					alone := m.alloc(len(pair.data) * d.Size())
					m.run(o.Sums(alone, px, masked, ps, 0, 0, m.alloc(o.Workspace())))
					compareArrays(t, m.get(sums, d, pair.shape), m.get(alone, d, pair.shape), 0)
					m.run(o.Sums(sums, px, pdy, ps, m.put(of), 0, m.alloc(o.Workspace())))
					compareArrays(t, m.get(sums, d, pair.shape), m.get(alone, d, pair.shape), 0)
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
