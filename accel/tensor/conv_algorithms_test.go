package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
)

// convolution is a convolution in float64, with the gradients of Σ y·z.
type convolution struct {
	x, w, z   []float64
	y, dx, dw []float64
	shapes    [3][]int // of x, w and z
}

func newConvolution(g *Generator, x, w []int, window Window) *convolution {
	one := [2]int{1, 1}
	s, d, p := orDefault(window.Stride, one), orDefault(window.Dilation, one), window.Padding
	out := func(i int) int { return (x[2+i]+2*p[i]-d[i]*(w[2+i]-1)-1)/s[i] + 1 }
	k := &convolution{shapes: [3][]int{x, w, {x[0], w[0], out(0), out(1)}}}
	k.x, k.w, k.z = Randn(g, x...).Float64s(), Randn(g, w...).Float64s(), Randn(g, k.shapes[2]...).Float64s()
	k.y, k.dx, k.dw = make([]float64, len(k.z)), make([]float64, len(k.x)), make([]float64, len(k.w))
	oh, ow := out(0), out(1)
	for tap := range k.w {
		o, c, u, v := tap/w[3]/w[2]/w[1], tap/w[3]/w[2]%w[1], tap/w[3]%w[2], tap%w[3]
		for image := range x[0] {
			for i := range oh {
				row := i*s[0] + u*d[0] - p[0]
				for j := range ow {
					column := j*s[1] + v*d[1] - p[1]
					if row < 0 || row >= x[2] || column < 0 || column >= x[3] {
						continue
					}
					at, from := ((image*w[0]+o)*oh+i)*ow+j, ((image*x[1]+c)*x[2]+row)*x[3]+column
					k.y[at] += k.w[tap] * k.x[from]
					k.dx[from] += k.w[tap] * k.z[at]
					k.dw[tap] += k.x[from] * k.z[at]
				}
			}
		}
	}
	return k
}

// check compares an implementation's results and gradients. They must have the same bits for any
// number of threads.
func (k *convolution) check(t *testing.T, implementation string, window Window) {
	t.Helper()
	first := map[string][]float32{}
	for _, threads := range []int{1, 3} {
		withDevice(cpu.NewWith(implementation, threads), func() {
			x, w := Parameter(New(floats(k.x), k.shapes[0]...)), Parameter(New(floats(k.w), k.shapes[1]...))
			y := Conv2D(x, w, nil, window)
			y.Mul(New(floats(k.z), k.shapes[2]...)).Sum().Backward()
			for what, p := range map[string]struct {
				got  *Tensor
				want []float64
			}{"result": {y, k.y}, "gradient of x": {x.Grad(), k.dx}, "gradient of w": {w.Grad(), k.dw}} {
				mean, largest := relativeErrors(p.got.Float64s(), p.want)
				if !(mean <= 2e-6 && largest <= 3e-5) {
					t.Errorf("%s, %d threads, %v: the %s has errors of %.2g (RMS) and %.2g (maximum)", implementation, threads, k.shapes, what, mean, largest)
				}
				got := p.got.Data()
				if first[what] == nil {
					first[what] = got
				} else if !slices.Equal(got, first[what]) {
					t.Errorf("%s, %v: %d threads give other bits of the %s than 1", implementation, k.shapes, threads, what)
				}
			}
		})
	}
}

func floats(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// relativeErrors returns the root mean square of the differences, and the largest, relative to the root mean
// square of want.
func relativeErrors(got, want []float64) (mean, largest float64) {
	squares := 0.0
	for i, w := range want {
		d := math.Abs(got[i] - w)
		mean += d * d
		largest = max(largest, d)
		squares += w * w
	}
	return math.Sqrt(mean / squares), largest / math.Sqrt(squares/float64(len(want)))
}

// TestWinograd compares Winograd convolutions and their gradients with float64: channels and images
// that are not multiples of the vector and tile sizes, images that are split, and each padding.
func TestWinograd(t *testing.T) {
	for i, s := range [][6]int{ // batch, channels, height, width, outputs, padding
		{3, 16, 14, 14, 20, 1},
		{2, 13, 23, 17, 35, 1},
		{3, 33, 10, 22, 12, 0},
		{3, 17, 9, 13, 13, 2},
		{1, 12, 71, 37, 13, 1},
		{1, 12, 5, 270, 12, 1},
		{20, 13, 7, 7, 70, 1},
		{20, 70, 7, 7, 13, 1},
		{1, 130, 14, 11, 70, 1}, // weights that are transformed in several blocks of channels
		{2, 65, 7, 9, 66, 1},
	} {
		w := Window{Padding: [2]int{s[5], s[5]}}
		k := newConvolution(NewGenerator(uint64(i)), []int{s[0], s[1], s[2], s[3]}, []int{s[4], s[1], 3, 3}, w)
		for _, name := range cpu.Implementations() {
			k.check(t, name, w)
		}
	}
}

// TestConvOfSmallImages compares the convolutions that are computed position by position.
func TestConvOfSmallImages(t *testing.T) {
	pair := func(n int) [2]int { return [2]int{n, n} }
	for i, row := range []struct {
		w    Window
		x, k []int
	}{
		{Window{Padding: pair(1)}, []int{33, 20, 3, 3}, []int{17, 20, 3, 3}},
		{Window{Padding: pair(1)}, []int{70, 13, 2, 3}, []int{70, 13, 3, 3}},
		{Window{Padding: pair(1)}, []int{9, 70, 2, 3}, []int{70, 70, 3, 3}},
		{Window{Padding: pair(1), Stride: pair(2)}, []int{17, 13, 14, 13}, []int{40, 13, 3, 3}},
		{Window{Padding: pair(2)}, []int{40, 12, 9, 10}, []int{13, 12, 5, 5}},
		{Window{Padding: pair(1)}, []int{8, 12, 1, 1}, []int{12, 12, 3, 3}},
		{Window{Padding: pair(2)}, []int{8, 16, 2, 2}, []int{32, 16, 5, 5}},
		{Window{Padding: [2]int{1, 0}, Stride: pair(2)}, []int{9, 13, 5, 4}, []int{30, 13, 3, 2}},
		{Window{Padding: [2]int{0, 3}, Dilation: [2]int{1, 3}}, []int{15, 15, 4, 5}, []int{13, 15, 3, 3}},
		{Window{Padding: pair(3), Stride: pair(3)}, []int{10, 14, 3, 2}, []int{15, 14, 3, 3}},      // some windows contain only padding
		{Window{Padding: pair(1), Stride: [2]int{1, 4}}, []int{10, 14, 3, 7}, []int{15, 14, 3, 2}}, // some elements of x are not read
	} {
		k := newConvolution(NewGenerator(uint64(i)), row.x, row.k, row.w)
		for _, name := range cpu.Implementations() {
			k.check(t, name, row.w)
		}
	}
}

// TestConvOfFewChannels compares the convolutions that gather the input of each kernel element,
// with results that are not multiples of the vector size.
func TestConvOfFewChannels(t *testing.T) {
	pair := func(n int) [2]int { return [2]int{n, n} }
	for i, row := range []struct {
		w    Window
		x, k []int
	}{
		{Window{Padding: pair(1)}, []int{5, 1, 11, 13}, []int{8, 1, 3, 3}},
		{Window{Padding: pair(1), Stride: pair(2)}, []int{3, 3, 17, 16}, []int{24, 3, 3, 3}},
		{Window{Padding: [2]int{0, 2}, Dilation: [2]int{2, 1}}, []int{17, 2, 12, 14}, []int{16, 2, 5, 3}},
		{Window{}, []int{2, 30, 8, 7}, []int{8, 30, 1, 1}},
		{Window{Padding: pair(2), Stride: [2]int{1, 3}}, []int{1, 4, 31, 30}, []int{32, 4, 2, 4}},
	} {
		k := newConvolution(NewGenerator(uint64(i)), row.x, row.k, row.w)
		for _, name := range cpu.Implementations() {
			k.check(t, name, row.w)
		}
	}
}

// TestConvOfFewResults compares the convolutions whose weights are used for few positions, with numbers of
// positions and channels that are not multiples of a tile.
func TestConvOfFewResults(t *testing.T) {
	pair := func(n int) [2]int { return [2]int{n, n} }
	for i, row := range []struct {
		w    Window
		x, k []int
	}{
		{Window{Padding: pair(1)}, []int{1, 64, 7, 7}, []int{70, 64, 3, 3}}, // more than one block of the depth
		{Window{Padding: pair(1), Stride: pair(2)}, []int{2, 37, 14, 13}, []int{33, 37, 3, 3}},
		{Window{Stride: pair(2)}, []int{1, 256, 5, 6}, []int{40, 256, 1, 1}},
		{Window{Padding: [2]int{0, 3}, Dilation: [2]int{1, 3}}, []int{3, 31, 4, 5}, []int{100, 31, 3, 3}},
		{Window{}, []int{1, 300, 3, 3}, []int{37, 300, 3, 3}}, // one position
		{Window{Padding: pair(2)}, []int{7, 40, 2, 1}, []int{64, 40, 5, 4}},
	} {
		k := newConvolution(NewGenerator(uint64(i)), row.x, row.k, row.w)
		for _, name := range cpu.Implementations() {
			k.check(t, name, row.w)
		}
	}
}

// TestConvOfFewImages compares the convolutions whose threads share the columns of a few images, with numbers of
// columns and channels that are not multiples of a tile.
func TestConvOfFewImages(t *testing.T) {
	pair := func(n int) [2]int { return [2]int{n, n} }
	for i, row := range []struct {
		w    Window
		x, k []int
	}{
		{Window{Padding: pair(3), Stride: pair(2)}, []int{1, 3, 49, 40}, []int{64, 3, 7, 7}},
		{Window{Stride: pair(2)}, []int{3, 40, 23, 21}, []int{50, 40, 1, 1}},
		{Window{Padding: pair(1), Stride: [2]int{1, 3}, Dilation: [2]int{2, 1}}, []int{2, 13, 30, 37}, []int{53, 13, 3, 2}},
		{Window{Padding: pair(1)}, []int{1, 45, 3, 300}, []int{48, 45, 3, 3}}, // more than one block of the depth
	} {
		k := newConvolution(NewGenerator(uint64(i)), row.x, row.k, row.w)
		for _, name := range cpu.Implementations() {
			k.check(t, name, row.w)
		}
	}
}

// TestWinogradRounding checks the documented rounding error of the transforms: about twice that of
// a sequential sum.
func TestWinogradRounding(t *testing.T) {
	window := Window{Padding: [2]int{1, 1}}
	k := newConvolution(NewGenerator(7), []int{2, 128, 12, 12}, []int{16, 128, 3, 3}, window)
	sums := make([]float64, len(k.y))
	area := 12 * 12
	for i := range sums {
		image, o, y, x := i/(16*area), i/area%16, i%area/12, i%12
		sum := float32(0)
		for c := range 128 {
			for u := range 3 {
				for v := range 3 {
					if r, s := y+u-1, x+v-1; r >= 0 && r < 12 && s >= 0 && s < 12 {
						sum += float32(k.w[((o*128+c)*3+u)*3+v]) * float32(k.x[((image*128+c)*12+r)*12+s])
					}
				}
			}
		}
		sums[i] = float64(sum)
	}
	direct, _ := relativeErrors(sums, k.y)
	for _, name := range cpu.Implementations() {
		withDevice(cpu.NewWith(name, 1), func() {
			y := Conv2D(New(floats(k.x), k.shapes[0]...), New(floats(k.w), k.shapes[1]...), nil, window)
			mean, _ := relativeErrors(y.Float64s(), k.y)
			if !(mean <= 3*direct) {
				t.Errorf("%s: the rounding error is %.2g, that of a direct sum %.2g", name, mean, direct)
			}
			t.Logf("%s: %.2g, a sum %.2g", name, mean, direct)
		})
	}
}

// TestConvWithActivation tests the fused bias and ReLU of several algorithms.
func TestConvWithActivation(t *testing.T) {
	window := Window{Padding: [2]int{1, 1}}
	k := newConvolution(NewGenerator(8), []int{8, 14, 12, 12}, []int{19, 14, 3, 3}, window)
	small := newConvolution(NewGenerator(8), []int{8, 14, 3, 3}, []int{19, 14, 3, 3}, window)
	few := newConvolution(NewGenerator(8), []int{1, 66, 7, 7}, []int{41, 66, 3, 3}, window)
	for _, k := range []*convolution{k, small, few} {
		area, outputs := k.shapes[2][2]*k.shapes[2][3], k.shapes[1][0]
		bias := Randn(NewGenerator(9), outputs).Float64s()
		want := array{shape: k.shapes[2], data: make([]float64, len(k.y))}
		for i, v := range k.y {
			want.data[i] = max(v+bias[i/area%outputs], 0)
		}
		for _, name := range cpu.Implementations() {
			withDevice(cpu.NewWith(name, 2), func() {
				y := Conv2D(New(floats(k.x), k.shapes[0]...), New(floats(k.w), k.shapes[1]...), New(floats(bias), outputs), window)
				compare(t, fmt.Sprint(name, ", with bias and ReLU"), releaseAfter(y, (*Tensor).ReLU), want, 1e-4)
			})
		}
	}
}
