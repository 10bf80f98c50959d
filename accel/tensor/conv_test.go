package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
)

// convRef is the definition, place by place.
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
	relu.f = func(in []*Tensor) *Tensor { return releasing(f(in), (*Tensor).ReLU) }
	relu.ref = func(in []array) array {
		return mapRef(func(x float64) float64 { return math.Max(x, 0) })([]array{ref(in)})
	}
	return []opRow{relu,
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

// TestConvOnEveryImplementation compares the kernel sets with float64, on sizes
// that are cut into several tiles and blocks.
func TestConvOnEveryImplementation(t *testing.T) {
	for i, row := range []struct {
		w    Window
		x, k []int
	}{
		{Window{Padding: [2]int{1, 1}}, []int{9, 3, 28, 28}, []int{16, 3, 3, 3}},
		{Window{Padding: [2]int{1, 1}}, []int{2, 70, 8, 8}, []int{20, 70, 3, 3}},
		{Window{Stride: [2]int{2, 2}, Padding: [2]int{3, 3}}, []int{1, 3, 40, 33}, []int{8, 3, 7, 7}},
		{Window{Groups: 24, Padding: [2]int{1, 1}}, []int{3, 24, 12, 12}, []int{24, 1, 3, 3}},
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
					compare(t, ctx, y, want, 1e-4) // sums of up to 630 products of numbers around 1
					// The gradient of Σ y·z is linear in z: its products with x
					// and w are both Σ y·z.
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

// TestConvSameBitsOnAnyNumberOfThreads looks at the result and all gradients.
func TestConvSameBitsOnAnyNumberOfThreads(t *testing.T) {
	var want []float32
	for _, threads := range []int{1, 2, 3, 5} {
		withThreads(threads, func() {
			g := NewGenerator(8)
			x, w, b := Parameter(Randn(g, 37, 3, 9, 11)), Parameter(Randn(g, 10, 3, 3, 3)), Parameter(Randn(g, 10))
			y := Conv2D(x, w, b, Window{Padding: [2]int{1, 1}, Stride: [2]int{1, 2}})
			y.Square().Sum().Backward()
			got := slices.Concat(y.Data(), x.Grad().Data(), w.Grad().Data(), b.Grad().Data())
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d threads give other bits than 1", threads)
			}
		})
	}
}

func fromTensor(t *Tensor) array { return array{t.Shape(), t.Float64s()} }
