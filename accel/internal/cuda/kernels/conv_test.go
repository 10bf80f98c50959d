package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// convCase is a convolution with its shapes.
type convCase struct {
	op   ir.Conv2D
	x, w [4]int
}

func (c convCase) shape() []int {
	y := []int{c.x[0], c.w[0], 0, 0}
	for i := range 2 {
		y[2+i] = (c.x[2+i]+2*c.op.Padding[i]-c.op.Dilation[i]*(c.w[2+i]-1)-1)/c.op.Stride[i] + 1
	}
	return y
}

func (c convCase) sizes(d ir.DType) Conv2D {
	y := c.shape()
	return Conv2D{DType: d, N: c.x[0], C: c.x[1], H: c.x[2], W: c.x[3], O: c.w[0], OH: y[2], OW: y[3], KH: c.w[2], KW: c.w[3],
		Groups: c.op.Groups, Stride: c.op.Stride, Padding: c.op.Padding, Dilation: c.op.Dilation}
}

func convCases() []convCase {
	one, none := [2]int{1, 1}, [2]int{}
	return []convCase{
		{ir.Conv2D{Stride: one, Padding: one, Dilation: one, Groups: 1}, [4]int{2, 3, 7, 9}, [4]int{5, 3, 3, 3}},
		{ir.Conv2D{Stride: one, Padding: none, Dilation: one, Groups: 1}, [4]int{1, 1, 1, 1}, [4]int{1, 1, 1, 1}},
		{ir.Conv2D{Stride: [2]int{2, 3}, Padding: [2]int{2, 1}, Dilation: [2]int{1, 2}, Groups: 1}, [4]int{3, 2, 11, 13}, [4]int{4, 2, 3, 2}},
		{ir.Conv2D{Stride: [2]int{3, 3}, Padding: none, Dilation: one, Groups: 1}, [4]int{2, 2, 7, 8}, [4]int{3, 2, 1, 2}},
		{ir.Conv2D{Stride: one, Padding: one, Dilation: one, Groups: 3}, [4]int{2, 6, 5, 6}, [4]int{9, 2, 3, 3}},
		{ir.Conv2D{Stride: [2]int{1, 2}, Padding: one, Dilation: one, Groups: 4}, [4]int{3, 4, 6, 7}, [4]int{8, 1, 3, 3}},
		{ir.Conv2D{Stride: one, Padding: one, Dilation: one, Groups: 2}, [4]int{2, 12, 5, 6}, [4]int{10, 6, 3, 3}},
		{ir.Conv2D{Stride: [2]int{2, 1}, Padding: [2]int{0, 2}, Dilation: [2]int{1, 2}, Groups: 5}, [4]int{2, 5, 9, 8}, [4]int{5, 1, 3, 3}},
		{ir.Conv2D{Stride: one, Padding: one, Dilation: one, Groups: 1}, [4]int{2, 10, 17, 16}, [4]int{70, 10, 3, 3}},
		{ir.Conv2D{Stride: one, Padding: one, Dilation: one, Groups: 1}, [4]int{0, 3, 5, 5}, [4]int{2, 3, 3, 3}},
	}
}

func TestConv2D(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, tolerance func(float64) float64) {
		for i, c := range some(convCases()) {
			t.Run(fmt.Sprint(i), func(t *testing.T) { c.test(t, c.sizes(d), d, d, tolerance(2e-6), i%2 == 0) })
		}
	})
}

func TestTensorConv2D(t *testing.T) {
	for i, c := range some(convCases()) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			o := c.sizes(ir.Float32)
			o.TF32 = true
			c.test(t, o, ir.Float32, ir.Float32, 2e-6, i%2 == 0)
		})
	}
}

// Channels in multiples of 8 are copied in chunks, of one group or several. Images in row-major order are copied before.
func TestConv2DLast(t *testing.T) {
	one, none := [2]int{1, 1}, [2]int{}
	cases := append(convCases(),
		convCase{ir.Conv2D{Stride: one, Padding: one, Dilation: one, Groups: 1}, [4]int{2, 16, 9, 7}, [4]int{24, 16, 3, 3}},
		convCase{ir.Conv2D{Stride: [2]int{2, 1}, Padding: [2]int{2, 0}, Dilation: [2]int{1, 2}, Groups: 1}, [4]int{2, 8, 9, 11}, [4]int{72, 8, 4, 2}},
		convCase{ir.Conv2D{Stride: [2]int{2, 3}, Padding: none, Dilation: one, Groups: 2}, [4]int{1, 48, 6, 8}, [4]int{16, 24, 1, 1}},
		convCase{ir.Conv2D{Stride: one, Padding: one, Dilation: one, Groups: 1}, [4]int{1, 8, 5, 5}, [4]int{12, 8, 3, 3}},
		convCase{ir.Conv2D{Stride: [2]int{3, 4}, Padding: [2]int{1, 0}, Dilation: one, Groups: 1}, [4]int{2, 2, 7, 12}, [4]int{8, 2, 2, 4}}, // windows next to each other
		convCase{ir.Conv2D{Stride: one, Padding: one, Dilation: one, Groups: 40}, [4]int{2, 80, 4, 5}, [4]int{40, 2, 3, 3}},
	)
	for _, d := range []ir.DType{ir.BFloat16, ir.Float16} {
		for i, c := range some(cases) {
			t.Run(fmt.Sprint(tensorType(d), i), func(t *testing.T) {
				c.test(t, Conv2DLast{c.sizes(d), false}, d, ir.Float32, 2e-6, i%2 == 0)
				c.test(t, Conv2DLast{c.sizes(d).withoutColumns(), true}, d, d, 2e-6, i%2 == 1)
				c.test(t, Conv2DRowMajor{Conv2DLast{c.sizes(d).withoutColumns(), i%4 < 2}, c.x[:], c.w[:], c.shape()}, d, map[bool]ir.DType{true: d, false: ir.Float32}[i%4 < 2], 2e-6, i%2 == 0)
			})
		}
	}
}

// Wide layers have tiles of 128×128.
func TestWideConv2DLast(t *testing.T) {
	c := convCase{ir.Conv2D{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}, [4]int{1, 8, 132, 128}, [4]int{72, 8, 1, 1}}
	o := Conv2DLast{c.sizes(ir.BFloat16), true}
	if forward, weight := o.product(ConvForward).tile(true), o.product(ConvWeight).tile(true); forward != 128 || weight != 64 {
		t.Fatalf("tiles of %d and %d", forward, weight)
	}
	c.test(t, o, ir.BFloat16, ir.BFloat16, 2e-6, true)
}

// last returns images or weights with the channels last.
func last(a array) array {
	out := newArray(a.dtype, a.shape...)
	n, channels, size := a.shape[0], a.shape[1], ir.Len(a.shape[2:])
	for i := range n {
		for c := range channels {
			for p := range size {
				out.data[(i*size+p)*channels+c] = a.data[(i*channels+c)*size+p]
			}
		}
	}
	return out
}

// test compares the result and the gradients, of type to, with a float64 reference.
func (c convCase) test(t *testing.T, o convKernels, d, to ir.DType, tolerance float64, relu bool) {
	t.Helper()
	r := generator(30)
	m, shape := newTestGPU(t), c.shape()
	x, w, b, dy := random(r, d, c.x[:]...), random(r, d, c.w[:]...), random(r, to, c.w[0]), random(r, d, shape...)
	if own, ok := o.(Conv2D); ok && own.TF32 {
		x, w, dy = tf32(x), tf32(w), tf32(dy)
	}
	order := func(a array) array { return a }
	if _, ok := o.(Conv2DLast); ok {
		order = last
	}
	px, pw, pdy := m.put(order(x)), m.put(order(w)), m.put(order(dy))
	toFloat64 := func(a ...array) []array {
		for i := range a {
			a[i] = a[i].as(ir.Float64)
		}
		return a
	}
	check := func(p Pointer, launches []Launch, err error, want array, depth int) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		m.run(launches)
		allowed := tolerance * math.Sqrt(float64(depth+1))
		if to.Is16Bit() {
			allowed += 1.0 / 256
		}
		compareArrays(t, m.get(p, to, want.shape), order(want), allowed)
	}
	want := reference(t, c.op, nil, toFloat64(x, w, b), nil, newArray(ir.Float64, shape...))
	for i, v := range want.data {
		if relu {
			want.data[i] = math.Max(v, 0)
		}
	}
	y := m.alloc(len(want.data) * to.Size())
	launches, err := o.Launches(ConvForward, y, px, pw, m.put(b), m.alloc(o.Workspace(ConvForward)), relu)
	check(y, launches, err, want, len(w.data))

	want = reference(t, ir.Conv2DInputGradient{Conv2D: c.op, H: c.x[2], W: c.x[3]}, nil, toFloat64(dy, w), nil, newArray(ir.Float64, c.x[:]...))
	dx := m.alloc(len(want.data) * to.Size())
	launches, err = o.Launches(ConvInput, dx, pdy, pw, 0, m.alloc(o.Workspace(ConvInput)), false)
	check(dx, launches, err, want, len(w.data))

	want = reference(t, ir.Conv2DWeightGradient{Conv2D: c.op, KH: c.w[2], KW: c.w[3]}, nil, toFloat64(x, dy), nil, newArray(ir.Float64, c.w[:]...))
	dw := m.alloc(len(want.data) * to.Size())
	launches, err = o.Launches(ConvWeight, dw, px, pdy, 0, m.alloc(o.Workspace(ConvWeight)), false)
	check(dw, launches, err, want, len(dy.data))
}
