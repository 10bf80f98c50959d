package tensor

import (
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
)

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
