package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
)

// convolution3 is a convolution of 3×3 in float64, with the gradients of Σ y·z.
type convolution3 struct {
	x, w, z   []float64
	y, dx, dw []float64
}

func newConvolution3(g *Generator, n, c, h, wide, o, pad int) (k convolution3, shapes [3][]int) {
	oh, ow := h+2*pad-2, wide+2*pad-2
	shapes = [3][]int{{n, c, h, wide}, {o, c, 3, 3}, {n, o, oh, ow}}
	k.x, k.w, k.z = Randn(g, shapes[0]...).Float64s(), Randn(g, shapes[1]...).Float64s(), Randn(g, shapes[2]...).Float64s()
	k.y, k.dx, k.dw = make([]float64, len(k.z)), make([]float64, len(k.x)), make([]float64, len(k.w))
	for image := range n {
		for out := range o {
			for in := range c {
				for u := range 3 {
					for v := range 3 {
						tap := ((out*c+in)*3+u)*3 + v
						for i := max(0, pad-u); i < min(oh, h+pad-u); i++ {
							y := ((image*o+out)*oh + i) * ow
							x := ((image*c+in)*h+i+u-pad)*wide + v - pad
							for j := max(0, pad-v); j < min(ow, wide+pad-v); j++ {
								k.y[y+j] += k.w[tap] * k.x[x+j]
								k.dx[x+j] += k.w[tap] * k.z[y+j]
								k.dw[tap] += k.x[x+j] * k.z[y+j]
							}
						}
					}
				}
			}
		}
	}
	return k, shapes
}

func floats(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// off is the root of the mean square of differences, and the largest, as parts of
// the root of the mean square of what is wanted.
func off(got, want []float64) (mean, largest float64) {
	squares := 0.0
	for i, w := range want {
		d := math.Abs(got[i] - w)
		mean += d * d
		largest = max(largest, d)
		squares += w * w
	}
	return math.Sqrt(mean / squares), largest / math.Sqrt(squares/float64(len(want)))
}

// TestWinograd compares convolutions that go through Winograd's transforms, and
// their gradients, with float64: channels and images that are no whole vectors and
// tiles, images that are cut, and every padding.
func TestWinograd(t *testing.T) {
	for i, s := range [][6]int{ // images, channels, height, width, outputs, padding
		{9, 16, 14, 14, 32, 1},
		{3, 13, 23, 17, 35, 1},
		{5, 33, 10, 22, 12, 0},
		{4, 20, 9, 13, 17, 2},
		{1, 12, 71, 70, 15, 1},
		{2, 12, 5, 270, 12, 1},
		{30, 70, 7, 7, 130, 1},
	} {
		k, shapes := newConvolution3(NewGenerator(uint64(i)), s[0], s[1], s[2], s[3], s[4], s[5])
		for _, name := range cpu.Implementations() {
			first := map[string][]float32{}
			for _, threads := range []int{1, 2, 5} {
				withDevice(cpu.NewWith(name, threads), func() {
					x, w := Parameter(New(floats(k.x), shapes[0]...)), Parameter(New(floats(k.w), shapes[1]...))
					y := Conv2D(x, w, nil, Window{Padding: [2]int{s[5], s[5]}})
					y.Mul(New(floats(k.z), shapes[2]...)).Sum().Backward()
					for what, p := range map[string]struct {
						got  *Tensor
						want []float64
					}{"result": {y, k.y}, "gradient of x": {x.Grad(), k.dx}, "gradient of w": {w.Grad(), k.dw}} {
						mean, largest := off(p.got.Float64s(), p.want)
						if !(mean <= 2e-6 && largest <= 3e-5) {
							t.Errorf("%s, %d threads, %v: the %s is %.2g off, at most %.2g", name, threads, s, what, mean, largest)
						}
						got := p.got.Data()
						if first[what] == nil {
							first[what] = got
						} else if !slices.Equal(got, first[what]) {
							t.Errorf("%s, %v: %d threads give other bits of the %s than 1", name, s, threads, what)
						}
					}
				})
			}
		}
	}
}

// TestWinogradRounding holds the transforms to what the documentation says: they
// round about twice as much as a sum of the products, one after the other, does.
func TestWinogradRounding(t *testing.T) {
	k, shapes := newConvolution3(NewGenerator(7), 2, 128, 12, 12, 16, 1)
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
	direct, _ := off(sums, k.y)
	for _, name := range cpu.Implementations() {
		withDevice(cpu.NewWith(name, 1), func() {
			y := Conv2D(New(floats(k.x), shapes[0]...), New(floats(k.w), shapes[1]...), nil, Window{Padding: [2]int{1, 1}})
			mean, _ := off(y.Float64s(), k.y)
			if !(mean <= 3*direct) {
				t.Errorf("%s: the rounding is %.2g, that of a sum %.2g", name, mean, direct)
			}
			t.Logf("%s: %.2g, a sum %.2g", name, mean, direct)
		})
	}
}

// TestWinogradWithActivation looks at bias and ReLU, which are part of the product.
func TestWinogradWithActivation(t *testing.T) {
	k, shapes := newConvolution3(NewGenerator(8), 8, 14, 12, 12, 19, 1)
	bias := Randn(NewGenerator(9), 19).Float64s()
	area := shapes[2][2] * shapes[2][3]
	want := array{shape: shapes[2], data: make([]float64, len(k.y))}
	for i, v := range k.y {
		want.data[i] = max(v+bias[i/area%19], 0)
	}
	for _, name := range cpu.Implementations() {
		withDevice(cpu.NewWith(name, 2), func() {
			y := Conv2D(New(floats(k.x), shapes[0]...), New(floats(k.w), shapes[1]...), New(floats(bias), 19), Window{Padding: [2]int{1, 1}})
			compare(t, fmt.Sprint(name, ", with bias and ReLU"), releasing(y, (*Tensor).ReLU), want, 1e-4)
		})
	}
}
