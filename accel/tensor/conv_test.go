package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// convRef computes a convolution by its definition.
func convRef(w Window) func(in []array) array {
	one := [2]int{1, 1}
	s, d := orDefault(w.Stride, one), orDefault(w.Dilation, one)
	groups := max(w.Groups, 1)
	return func(in []array) array {
		x, k := in[0], in[1]
		out := func(i int) int {
			return (x.shape[2+i]+2*w.Padding[i]-d[i]*(k.shape[2+i]-1)-1)/s[i] + 1
		}
		per := k.shape[0] / groups
		return build([]int{x.shape[0], k.shape[0], out(0), out(1)}, func(i []int) float64 {
			sum := 0.0
			if len(in) == 3 {
				sum = in[2].get(i[1])
			}
			for c := range k.shape[1] {
				for u := range k.shape[2] {
					for v := range k.shape[3] {
						y, z := i[2]*s[0]+u*d[0]-w.Padding[0], i[3]*s[1]+v*d[1]-w.Padding[1]
						if y >= 0 && y < x.shape[2] && z >= 0 && z < x.shape[3] {
							sum += x.get(i[0], i[1]/max(per, 1)*k.shape[1]+c, y, z) * k.get(i[1], c, u, v)
						}
					}
				}
			}
			return sum
		})
	}
}

func convRow(name string, w Window, shapes func(m, n, k int) [][]int) opRow {
	return opRow{name: "Conv2D " + name, shapes: shapes, low: -1, high: 1, ref: convRef(w), nonEmpty: false,
		f: func(in []*Tensor) *Tensor {
			if len(in) == 3 {
				return Conv2D(in[0], in[1], in[2], w)
			}
			return Conv2D(in[0], in[1], nil, w)
		}}
}

func convRows() []opRow {
	pair := func(n int) [2]int { return [2]int{n, n} }
	shapes := func(kh, kw, h, w int) func(m, n, k int) [][]int {
		return func(m, n, k int) [][]int { return [][]int{{m%5 + m/33, n, h, w}, {k, n, kh, kw}, {k}} }
	}
	grouped := func(groups, per int) func(m, n, k int) [][]int {
		return func(m, n, k int) [][]int {
			return [][]int{{k % 4, groups * (n % 4), 6, 5}, {groups * per, n % 4, 3, 3}}
		}
	}
	relu := convRow("ReLU", Window{Padding: pair(1)}, shapes(3, 3, 4, 9))
	f, ref := relu.f, relu.ref
	relu.f = func(in []*Tensor) *Tensor { return releaseAfter(f(in), (*Tensor).ReLU) }
	relu.ref = func(in []array) array {
		return mapRef(func(x float64) float64 { return math.Max(x, 0) })([]array{ref(in)})
	}
	transposed := func(groups, kh, kw int) func(m, n, k int) [][]int {
		return func(m, n, k int) [][]int {
			n, k = n%5+1, k%4+1
			return [][]int{{m % 4, n * groups, 4, 3}, {n * groups, k, kh, kw}, {k * groups}}
		}
	}
	return []opRow{relu,
		transposedRow("plain", Window{}, [2]int{}, transposed(1, 3, 2)),
		transposedRow("stride", Window{Stride: pair(2), Padding: pair(1)}, [2]int{1, 0}, transposed(1, 3, 4)),
		transposedRow("groups", Window{Groups: 2, Stride: [2]int{3, 1}, Dilation: [2]int{1, 2}, Padding: [2]int{0, 1}}, [2]int{2, 0}, transposed(2, 2, 3)),
		convRow("same", Window{Padding: pair(1)}, shapes(3, 3, 7, 10)),
		convRow("valid", Window{}, shapes(3, 2, 5, 4)),
		convRow("one by one", Window{}, shapes(1, 1, 4, 3)),
		convRow("one by one, padded", Window{Padding: pair(1)}, shapes(1, 1, 3, 4)),
		convRow("stride", Window{Stride: pair(2), Padding: pair(1)}, shapes(3, 3, 7, 8)),
		convRow("uneven", Window{Stride: [2]int{3, 2}, Padding: [2]int{2, 1}, Dilation: [2]int{1, 2}}, shapes(2, 3, 8, 7)),
		convRow("stride beyond the kernel", Window{Stride: pair(3)}, shapes(1, 2, 7, 8)),
		convRow("dilation", Window{Padding: pair(2), Dilation: pair(2)}, shapes(3, 3, 6, 5)),
		convRow("padding only", Window{Padding: pair(3)}, shapes(5, 5, 1, 2)),
		convRow("groups", Window{Groups: 2, Padding: pair(1)}, grouped(2, 3)),
		convRow("depthwise", Window{Groups: 5, Padding: pair(1), Stride: [2]int{1, 2}}, func(m, n, k int) [][]int {
			return [][]int{{m % 6, 5, 6, 7}, {5, 1, 3, 3}, {5}}
		}),
		convRow("depthwise, twice", Window{Groups: 3}, func(m, n, k int) [][]int {
			return [][]int{{m % 6, 3, 6, 7}, {6, 1, 2, 2}}
		}),
	}
}

// transposedRow is a test of ConvTranspose2D: each element adds the kernel, multiplied by it.
func transposedRow(name string, w Window, more [2]int, shapes func(m, n, k int) [][]int) opRow {
	o := conv2DOf(w)
	return opRow{name: "ConvTranspose2D, " + name, shapes: shapes, low: -1, high: 1, nonEmpty: true,
		f: func(in []*Tensor) *Tensor { return ConvTranspose2D(in[0], in[1], in[2], w, more) },
		ref: func(in []array) array {
			x, k := in[0], in[1]
			per := k.shape[1]
			size := func(i int) int {
				return (x.shape[i]-1)*o.Stride[i-2] - 2*o.Padding[i-2] + o.Dilation[i-2]*(k.shape[i]-1) + 1 + more[i-2]
			}
			y := build([]int{x.shape[0], per * o.Groups, size(2), size(3)}, func(i []int) float64 { return in[2].get(i[1]) })
			each(x.shape, func(at []int) {
				each(k.shape[1:], func(u []int) {
					i, j := at[2]*o.Stride[0]-o.Padding[0]+u[1]*o.Dilation[0], at[3]*o.Stride[1]-o.Padding[1]+u[2]*o.Dilation[1]
					if i >= 0 && i < y.shape[2] && j >= 0 && j < y.shape[3] {
						group := at[1] / (x.shape[1] / o.Groups)
						y.data[y.at([]int{at[0], group*per + u[0], i, j})] += x.get(at...) * k.get(at[1], u[0], u[1], u[2])
					}
				})
			})
			return y
		}}
}

// TestConvOnEveryImplementation compares each instruction set with float64, on sizes that are split
// into several tiles and blocks.
func TestConvOnEveryImplementation(t *testing.T) {
	for i, row := range []struct {
		w    Window
		x, k []int
	}{
		{Window{Padding: [2]int{1, 1}}, []int{9, 3, 28, 28}, []int{16, 3, 3, 3}},
		{Window{Padding: [2]int{1, 1}}, []int{2, 70, 8, 8}, []int{20, 70, 3, 3}},
		{Window{Stride: [2]int{2, 2}, Padding: [2]int{3, 3}}, []int{1, 3, 40, 33}, []int{8, 3, 7, 7}},
		{Window{Groups: 24, Padding: [2]int{1, 1}}, []int{3, 24, 12, 12}, []int{24, 1, 3, 3}},
		// Wide enough to be computed as matrix multiplications without the padding.
		{Window{Padding: [2]int{1, 1}}, []int{7, 50, 5, 3}, []int{67, 50, 3, 3}},
		{Window{Padding: [2]int{1, 1}}, []int{1, 48, 25, 31}, []int{48, 48, 3, 3}},
		{Window{Stride: [2]int{2, 3}, Padding: [2]int{1, 0}}, []int{5, 49, 9, 10}, []int{50, 49, 3, 2}},
		{Window{Groups: 2, Dilation: [2]int{2, 1}}, []int{61, 98, 6, 3}, []int{100, 49, 2, 1}},
	} {
		g := NewGenerator(uint64(i))
		x, k := fromTensor(Randn(g, row.x...)), fromTensor(Randn(g, row.k...))
		want := convRef(row.w)([]array{x, k})
		z := fromTensor(Randn(g, want.shape...))
		for _, name := range cpu.Implementations() {
			for _, threads := range []int{1, 3} {
				withDevice(cpu.NewWith(name, threads), func() {
					ctx := fmt.Sprintf("%s, %d threads, %v by %v", name, threads, row.x, row.k)
					tx, tk := Parameter(New(x.floats(), x.shape...)), Parameter(New(k.floats(), k.shape...))
					y := Conv2D(tx, tk, nil, row.w)
					compare(t, ctx, y, want, 1e-4) // sums of up to 630 terms around 1
					// The gradient of Σ y·z is linear in z: its inner products with x
					// and w both equal Σ y·z.
					y.Mul(New(z.floats(), z.shape...)).Sum().Backward()
					sum := 0.0
					for i, v := range z.data {
						sum += v * want.data[i]
					}
					scale := math.Sqrt(float64(len(want.data))) * 20
					for name, p := range map[string]*Tensor{"input": tx, "weight": tk} {
						if got := p.Grad().Mul(p).Sum().Item(); !(math.Abs(got-sum) <= 2e-5*scale) {
							t.Errorf("%s: the %s's gradient gives %v, want %v", ctx, name, got, sum)
						}
					}
				})
			}
		}
	}
}

// TestConvSameBitsOnAnyNumberOfThreads compares the result and all gradients.
func TestConvSameBitsOnAnyNumberOfThreads(t *testing.T) {
	for _, channels := range [][2]int{{3, 10}, {50, 70}} {
		var want []float32
		for _, threads := range []int{1, 2, 3, 5} {
			withThreads(threads, func() {
				g := NewGenerator(8)
				x, w, b := Parameter(Randn(g, 37, channels[0], 9, 11)), Parameter(Randn(g, channels[1], channels[0], 3, 3)), Parameter(Randn(g, channels[1]))
				y := Conv2D(x, w, b, Window{Padding: [2]int{1, 1}, Stride: [2]int{1, 2}})
				y.Square().Sum().Backward()
				got := slices.Concat(y.Data(), x.Grad().Data(), w.Grad().Data(), b.Grad().Data())
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v channels: %d threads give other bits than 1", channels, threads)
				}
			})
		}
	}
}

func fromTensor(t *Tensor) array { return array{t.Shape(), t.Float64s()} }

// FuzzConv2D compares random convolutions and their gradients with the definition.
func FuzzConv2D(f *testing.F) {
	f.Add(uint64(1), uint32(0x12345678), uint32(0x0f1e2d3c))
	f.Add(uint64(2), uint32(0xffffffff), uint32(0))
	f.Add(uint64(3), uint32(0), uint32(0xffffffff))
	f.Add(uint64(4), uint32(0x9e3779b9), uint32(0x85ebca6b))
	f.Fuzz(func(t *testing.T, seed uint64, sizes, window uint32) {
		draw := func(from *uint32, n int) int {
			v := int(*from % uint32(n))
			*from = *from/uint32(n) + 1<<20*uint32(v)
			return v
		}
		groups := 1 + draw(&window, 3)
		w := Window{Groups: groups,
			Stride:   [2]int{1 + draw(&window, 4), 1 + draw(&window, 3)},
			Padding:  [2]int{draw(&window, 4), draw(&window, 3)},
			Dilation: [2]int{1 + draw(&window, 3), 1 + draw(&window, 3)}}
		kernel := []int{groups * draw(&sizes, 4), draw(&sizes, 4), 1 + draw(&sizes, 3), 1 + draw(&sizes, 4)}
		image := []int{draw(&sizes, 4), kernel[1] * groups, 1 + draw(&sizes, 9), 1 + draw(&sizes, 20)}
		for i := range 2 {
			if image[2+i]+2*w.Padding[i] < w.Dilation[i]*(kernel[2+i]-1)+1 {
				return
			}
		}
		r := rand.New(rand.NewPCG(seed, 3))
		in := []array{randomArray(r, -1, 1, image...), randomArray(r, -1, 1, kernel...), randomArray(r, -1, 1, kernel[0])}
		var p []*Tensor
		for _, a := range in {
			p = append(p, Parameter(New(a.floats(), a.shape...)))
		}
		y := Conv2D(p[0], p[1], p[2], w)
		ctx := fmt.Sprintf("%v by %v, %+v", image, kernel, w)
		want := convRef(w)(in)
		compare(t, ctx, y, want, 1e-5)
		z := randomArray(r, -1, 1, want.shape...)
		y.Mul(New(z.floats(), z.shape...)).Sum().Backward()
		// The sum is linear in each input: adding d to an input adds gradient·d to the sum.
		for i, a := range in {
			d := randomArray(r, -1, 1, a.shape...)
			moved := slices.Clone(in)
			moved[i] = build(a.shape, func(at []int) float64 { return a.get(at...) + d.get(at...) })
			change, got := 0.0, 0.0
			for k, v := range convRef(w)(moved).data {
				change += (v - want.data[k]) * z.data[k]
			}
			for k, g := range p[i].Grad().Float64s() {
				got += g * d.data[k]
			}
			if !(math.Abs(got-change) <= 1e-4*(1+math.Sqrt(float64(len(want.data))))) {
				t.Fatalf("%s: the gradient of input %d gives %v, want %v", ctx, i, got, change)
			}
		}
	})
}

func poolRef(kernel [2]int, w Window, f func(inside []float64) float64) func(in []array) array {
	s, d := orDefault(w.Stride, kernel), orDefault(w.Dilation, [2]int{1, 1})
	return func(in []array) array {
		x := in[0]
		out := func(i int) int { return (x.shape[2+i]+2*w.Padding[i]-d[i]*(kernel[i]-1)-1)/s[i] + 1 }
		return build([]int{x.shape[0], x.shape[1], out(0), out(1)}, func(i []int) float64 {
			var inside []float64
			for u := range kernel[0] {
				for v := range kernel[1] {
					y, z := i[2]*s[0]+u*d[0]-w.Padding[0], i[3]*s[1]+v*d[1]-w.Padding[1]
					if y >= 0 && y < x.shape[2] && z >= 0 && z < x.shape[3] {
						inside = append(inside, x.get(i[0], i[1], y, z))
					}
				}
			}
			return f(inside)
		})
	}
}

func poolRows() []opRow {
	var rows []opRow
	for _, p := range []struct {
		name   string
		kernel [2]int
		w      Window
		h, wd  int
	}{
		{"2×2", [2]int{2, 2}, Window{}, 4, 38},
		{"2×2 with a rest", [2]int{2, 2}, Window{}, 5, 7},
		{"3×3 that overlap", [2]int{3, 3}, Window{Stride: [2]int{2, 1}, Padding: [2]int{1, 1}}, 6, 5},
		{"uneven", [2]int{1, 3}, Window{Padding: [2]int{0, 1}}, 4, 5},
		{"one element", [2]int{1, 1}, Window{}, 1, 2},
	} {
		shapes := func(m, n, k int) [][]int { return [][]int{{min(m, 2), min(n, 2), p.h, p.wd}} }
		size := float64(p.kernel[0] * p.kernel[1])
		rows = append(rows,
			opRow{name: "MaxPool2D " + p.name, shapes: shapes, low: -2, high: 2, ref: poolRef(p.kernel, p.w, largest),
				f: func(in []*Tensor) *Tensor { return MaxPool2D(in[0], p.kernel, p.w) }},
			opRow{name: "AvgPool2D " + p.name, shapes: shapes, low: -2, high: 2,
				ref: poolRef(p.kernel, p.w, func(v []float64) float64 { return total(v) / size }),
				f:   func(in []*Tensor) *Tensor { return AvgPool2D(in[0], p.kernel, p.w) }})
	}
	dilated := Window{Dilation: [2]int{2, 3}, Stride: [2]int{1, 1}}
	return append(rows,
		opRow{name: "MaxPool2D dilated", shapes: func(m, n, k int) [][]int { return [][]int{{m % 5, n % 5, 6, 8}} }, low: -2, high: 2,
			ref: poolRef([2]int{2, 2}, dilated, largest),
			f:   func(in []*Tensor) *Tensor { return MaxPool2D(in[0], [2]int{2, 2}, dilated) }},
		opRow{name: "GlobalAvgPool2D", shapes: func(m, n, k int) [][]int { return [][]int{{m, n, 3, 5}} }, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return GlobalAvgPool2D(in[0]) },
			ref: func(in []array) array {
				return mapRef(func(x float64) float64 { return x / 15 })([]array{foldRef(2, total)([]array{foldRef(2, total)(in)})})
			}})
}

// TestMaxPoolOfOverlappingWindows compares windows of all kinds with a loop, for values with NaN and infinities, on each
// instruction set.
func TestMaxPoolOfOverlappingWindows(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, row := range []struct {
		kernel [2]int
		w      Window
	}{
		{[2]int{3, 3}, Window{Stride: [2]int{2, 2}, Padding: [2]int{1, 1}}},
		{[2]int{3, 3}, Window{Stride: [2]int{1, 1}}},
		{[2]int{2, 3}, Window{Stride: [2]int{3, 1}, Padding: [2]int{1, 1}, Dilation: [2]int{2, 2}}},
		{[2]int{1, 1}, Window{Stride: [2]int{2, 3}}},
		{[2]int{7, 9}, Window{Stride: [2]int{7, 9}}},
	} {
		const h, w = 7, 9
		data := make([]float32, 2*h*w)
		for i := range data {
			data[i] = []float32{nan, -inf, -inf, -inf, -inf, -inf, inf, 3, -2, 1, float32(i), -float32(i)}[i*i*7%19%12]
		}
		for _, name := range cpu.Implementations() {
			withDevice(cpu.NewWith(name, 2), func() {
				y := MaxPool2D(New(data, 1, 2, h, w), row.kernel, row.w)
				step := func(a [2]int, i int) int { return max(1, a[i]) }
				got := y.Data()
				for i := range got {
					c, oy, ox := i/y.Size(3)/y.Size(2), i/y.Size(3)%y.Size(2), i%y.Size(3)
					want := -inf
					for u := range row.kernel[0] {
						for v := range row.kernel[1] {
							r, s := oy*step(row.w.Stride, 0)-row.w.Padding[0]+u*step(row.w.Dilation, 0), ox*step(row.w.Stride, 1)-row.w.Padding[1]+v*step(row.w.Dilation, 1)
							if r >= 0 && r < h && s >= 0 && s < w {
								want = max(want, data[(c*h+r)*w+s])
							}
						}
					}
					if got[i] != want && !(got[i] != got[i] && want != want) {
						t.Errorf("%s, %v %+v: element %d is %v, want %v", name, row.kernel, row.w, i, got[i], want)
					}
				}
			})
		}
	}
}

// TestMaxPoolOfEqualElements checks that the first of equal elements gets the gradient, as in
// torch, on each instruction set.
func TestMaxPoolOfEqualElements(t *testing.T) {
	for _, name := range cpu.Implementations() {
		withDevice(cpu.NewWith(name, 2), func() {
			for _, w := range []Window{{}, {Stride: [2]int{2, 2}, Padding: [2]int{1, 1}}} {
				x := Parameter(New([]float32{0, 0, 1, 2, 0, 0, 2, 2, -1, 3, 0, 0, 3, 3, 0, 0}, 1, 1, 4, 4))
				y := MaxPool2D(x, [2]int{2, 2}, w)
				y.Mul(New([]float32{10, 20, 30, 40, 50, 60, 70, 80, 90}[:y.Numel()], y.Shape()...)).Sum().Backward()
				want := []float32{10, 0, 0, 20, 0, 0, 0, 0, 0, 30, 40, 0, 0, 0, 0, 0}
				if w.Padding[0] == 1 {
					want = []float32{10, 0, 20, 30, 40, 0, 0, 60, 0, 50, 0, 0, 70, 80, 0, 90}
				}
				if got := x.Grad().Data(); !slices.Equal(got, want) {
					t.Errorf("%s, %+v: %v, want %v", name, w, got, want)
				}
			}
			nan := float32(math.NaN())
			for i := range 4 {
				data := []float32{1, 2, 3, 4}
				data[i] = nan
				if got := MaxPool2D(New(data, 1, 1, 2, 2), [2]int{2, 2}, Window{}).Item(); got == got {
					t.Errorf("%s: the largest of %v is %v", name, data, got)
				}
			}
		})
	}
}

// TestGradientOfPooledReLU checks the gradient of ReLU behind a max pool, which masks it, in float32
// and where casts are between them.
func TestGradientOfPooledReLU(t *testing.T) {
	pool := func(x *Tensor) *Tensor { return MaxPool2D(x, [2]int{1, 2}, Window{}) }
	const tiny = 1e-9 // 0 as a float16
	values := []float32{-1, -2, 3, 3, -4, 5, 0, 0, tiny, -1}
	exact, first := []float32{0, 0, 2, 0, 0, 4, 0, 0, 6, 0}, []float32{0, 0, 2, 0, 0, 4, 0, 0, 0, 0}
	for name, row := range map[string]struct {
		f    func(x *Tensor) *Tensor
		want []float32
	}{
		"float32":            {func(x *Tensor) *Tensor { return pool(x.ReLU()) }, exact},
		"float16":            {func(x *Tensor) *Tensor { return pool(x.Cast(Float16).ReLU()) }, first},
		"bfloat16":           {func(x *Tensor) *Tensor { return pool(x.Cast(BFloat16).ReLU()) }, exact},
		"rounded after ReLU": {func(x *Tensor) *Tensor { return pool(x.ReLU().Cast(Float16)) }, exact},
		"of another type":    {func(x *Tensor) *Tensor { return pool(x.Cast(BFloat16).ReLU().Cast(Float16)) }, exact},
		"two ReLUs":          {func(x *Tensor) *Tensor { return pool(x.Cast(BFloat16).ReLU()).ReLU() }, exact},
		"with a user before": {func(x *Tensor) *Tensor {
			y := x.Cast(BFloat16).ReLU()
			return y.MulScalar(0).Slice(3, 0, 5).Add(pool(y))
		}, exact},
		"with another user": {func(x *Tensor) *Tensor { y := x.Cast(BFloat16).ReLU(); return pool(y).Add(pool(y).MulScalar(0)) }, exact},
		"under Autocast": {func(x *Tensor) (y *Tensor) {
			Autocast(BFloat16, func() { y = pool(x.Cast(BFloat16).ReLU()) })
			return y
		}, exact},
		"rounded twice, float16": {func(x *Tensor) *Tensor { return pool(x.Cast(Float16).ReLU().Cast(Float32).Cast(Float16)) }, first},
	} {
		x := Parameter(New(values, 1, 1, 1, len(values)))
		y := row.f(x)
		y.Cast(Float32).Mul(New([]float32{1, 2, 4, 5, 6}, 1, 1, 1, 5)).Sum().Backward()
		if got := x.Grad().Data(); !slices.Equal(got, row.want) {
			t.Errorf("%s: the gradient is %v, want %v", name, got, row.want)
		}
	}
}

// cnn is a small network for 28×28 images: two 3×3 convolutions with ReLU and 2×2 pooling, and a
// linear layer for 10 classes.
type cnn struct {
	mlp
	pixels *Tensor
}

func newCNN(g *Generator, batch int) *cnn {
	n := &cnn{pixels: Uniform(g, 0, 1, batch, 1, 28, 28)}
	labels := make([]int, batch)
	for i := range labels {
		labels[i] = g.Intn(10)
	}
	n.y = FromInts(labels, batch)
	for _, shape := range [][]int{{16, 1, 3, 3}, {16}, {32, 16, 3, 3}, {32}, {10, 1568}, {10}} {
		bound := 0.05
		n.params = append(n.params, Parameter(Uniform(g, -bound, bound, shape...)))
		n.m, n.v = append(n.m, Zeros(shape...)), append(n.v, Zeros(shape...))
	}
	return n
}

func (n *cnn) train() *Tensor {
	x := n.pixels
	for i := 0; i < 4; i += 2 {
		y := releaseAfter(Conv2D(x, n.params[i], n.params[i+1], Window{Padding: [2]int{1, 1}}), (*Tensor).ReLU)
		if i > 0 {
			x.Release()
		}
		x = releaseAfter(y, func(t *Tensor) *Tensor { return MaxPool2D(t, [2]int{2, 2}, Window{}) })
	}
	x = releaseAfter(x, func(t *Tensor) *Tensor { return t.Flatten(1) })
	logits := releaseAfter(x, func(t *Tensor) *Tensor { return Linear(t, n.params[4], n.params[5]) })
	loss := CrossEntropy(logits, n.y)
	logits.Release()
	loss.Backward()
	n.update(1e-3)
	return loss
}

func TestTrainingOfImages(t *testing.T) {
	n := newCNN(NewGenerator(1), 16)
	first := n.train().Item()
	tensors.ResetStats()
	last := 0.0
	for range 15 {
		last = n.train().Item()
	}
	if !(last < first-0.1) {
		t.Errorf("the loss went from %v to %v only", first, last)
	}
	if s := tensors.Stats(); s.PlansMade > 1 {
		t.Errorf("steps after the first made %d plans: %+v", s.PlansMade, s)
	}
}

// BenchmarkCNNStep is one step with a batch of 128.
func BenchmarkCNNStep(b *testing.B) {
	n := newCNN(NewGenerator(1), 128)
	for range 3 {
		n.train()
	}
	best := math.Inf(1)
	for b.Loop() {
		start := time.Now()
		n.train()
		best = min(best, time.Since(start).Seconds())
	}
	b.ReportMetric(best*1e6, "µs/best-step")
}
