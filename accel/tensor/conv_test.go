package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
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
