package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// randomProduct returns a layer with random weights and scales.
func randomProduct(r *rand.Rand, p integer.MatMul) *integer.MatMul {
	if p.Window == (integer.Window{}) {
		p.Window = integer.Point()
	}
	p.Groups = max(p.Groups, 1)
	p.Weight = signed(randomBytes(r, p.Out*p.Depth()))
	for range p.Out {
		p.Factor = append(p.Factor, float32(0.5+r.Float64())/float32(p.Depth())/64)
		p.Bias = append(p.Bias, float32(r.NormFloat64()*10))
	}
	return &p
}

// reference runs a network in the simplest way: exact integer sums, examples and elements
// one after the other, images as [H, W, C].
func reference(n *integer.Network, x []float32, shapes [][]int) []float32 {
	q := make([]uint8, len(x))
	h, w, c := 1, 1, len(x)
	if n.Image {
		c, h, w = shapes[0][0], shapes[0][1], shapes[0][2]
	}
	for ch := range c {
		for at := range h * w {
			q[at*c+ch] = n.Input.Quantize(x[ch*h*w+at])
		}
	}
	zero := n.Input.Zero
	for i, l := range n.Layers {
		out := shapes[i+1]
		switch l := l.(type) {
		case integer.Flatten:
			h, w, c = 1, 1, out[0]
		case *integer.MaxPool:
			next := make([]uint8, 0)
			for oy := range out[1] {
				for ox := range out[2] {
					for ch := range c {
						most := -1
						eachTap(l.Window, oy, ox, h, w, func(_, at int) {
							if at >= 0 {
								most = max(most, int(q[at*c+ch]))
							}
						})
						next = append(next, uint8(max(most, 0)))
					}
				}
			}
			q, h, w = next, out[1], out[2]
		case *integer.MatMul:
			oh, ow := 1, 1
			if l.Image {
				oh, ow = out[1], out[2]
			}
			var bytes []uint8
			floats := make([]float32, l.Out*oh*ow)
			in, each := l.In/l.Groups, l.Out/l.Groups
			for oy := range oh {
				for ox := range ow {
					for o := range l.Out {
						sum := int32(0)
						eachTap(l.Window, oy, ox, h, w, func(tap, at int) {
							for ch := range in {
								v := int32(zero)
								if at >= 0 {
									v = int32(q[at*c+o/each*in+ch])
								}
								sum += (v - int32(zero)) * int32(l.Weight[o*l.Depth()+tap*in+ch])
							}
						})
						if l.Output == nil {
							v := float32(float32(sum)*l.Factor[o]) + l.Bias[o]
							if l.ReLU {
								v = max(v, 0)
							}
							floats[(o*oh+oy)*ow+ox] = v
							continue
						}
						low := float32(0)
						if l.ReLU {
							low = float32(l.Output.Zero)
						}
						v := float32(float32(sum)*(l.Factor[o]/l.Output.Step)) + (l.Bias[o]/l.Output.Step + float32(l.Output.Zero))
						bytes = append(bytes, uint8(math.RoundToEven(float64(min(max(v, low), 255)))))
					}
				}
			}
			if l.Output == nil {
				return floats
			}
			q, h, w, c, zero = bytes, oh, ow, l.Out, l.Output.Zero
		}
	}
	return nil
}

// eachTap calls f with the offsets in an image that a window reads, -1 outside.
func eachTap(window integer.Window, oy, ox, h, w int, f func(tap, at int)) {
	for ky := range window.Kernel[0] {
		for kx := range window.Kernel[1] {
			y := oy*window.Stride[0] - window.Padding[0] + ky*window.Dilation[0]
			x := ox*window.Stride[1] - window.Padding[1] + kx*window.Dilation[1]
			at := y*w + x
			if y < 0 || y >= h || x < 0 || x >= w {
				at = -1
			}
			f(ky*window.Kernel[1]+kx, at)
		}
	}
}

func squareWindow(kernel, stride, padding, dilation int) integer.Window {
	two := func(n int) [2]int { return [2]int{n, n} }
	return integer.Window{Kernel: two(kernel), Stride: two(stride), Padding: two(padding), Dilation: two(dilation)}
}

// runQuantized runs a network as a program.
func runQuantized(d *Device, n *integer.Network, shape []int, x []float32) ([]float32, error) {
	out, err := n.Output(shape)
	if err != nil {
		return nil, err
	}
	return runOne(d, ir.Quantized{Network: n}, shape, out, x)
}

// runOne runs an op of one input.
func runOne(d *Device, op ir.Op, in, out []int, x []float32) ([]float32, error) {
	operand := func(slot int, shape []int) ir.Operand {
		return ir.Operand{Slot: slot, DType: ir.Float32, Layout: ir.RowMajor(shape)}
	}
	exe, err := d.Compile(&ir.Program{
		Slots: []ir.Slot{{Kind: ir.External, Bytes: 4 * ir.Len(in)}, {Kind: ir.External, Bytes: 4 * ir.Len(out)}},
		Steps: []ir.Step{{Op: op, In: []ir.Operand{operand(0, in)}, Out: []ir.Operand{operand(1, out)}}},
	})
	if err != nil {
		return nil, err
	}
	a, b := newStorage(4*len(x)), newStorage(4*ir.Len(out))
	copy(floatsOf(a), x)
	if _, err := exe.Run([]ir.Storage{a, b}, nil); err != nil {
		return nil, err
	}
	return floatsOf(b)[:ir.Len(out)], nil
}

func TestQuantizedNetworks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	scale := func() *integer.Scale {
		return &integer.Scale{Step: float32(0.05 + 0.1*r.Float64()), Zero: uint8(r.IntN(256))}
	}
	product := func(p integer.MatMul) *integer.MatMul { return randomProduct(r, p) }
	rows := []struct {
		name   string
		shape  []int
		layers []integer.Layer
	}{
		{"linear", []int{5, 7}, []integer.Layer{product(integer.MatMul{In: 7, Out: 3})}},
		{"one row", []int{1, 33}, []integer.Layer{product(integer.MatMul{In: 33, Out: 65, ReLU: true})}},
		{"sequences", []int{3, 4, 9}, []integer.Layer{product(integer.MatMul{In: 9, Out: 16})}},
		{"many rows", []int{300, 20}, []integer.Layer{
			product(integer.MatMul{In: 20, Out: 37, ReLU: true, Output: scale()}),
			product(integer.MatMul{In: 37, Out: 11, Output: scale()}),
			product(integer.MatMul{In: 11, Out: 10}),
		}},
		{"no rows", []int{0, 7}, []integer.Layer{product(integer.MatMul{In: 7, Out: 3})}},
		{"convolution", []int{2, 3, 9, 8}, []integer.Layer{product(integer.MatMul{Image: true, In: 3, Out: 5, Window: squareWindow(3, 1, 1, 1), ReLU: true})}},
		{"stride", []int{2, 4, 9, 8}, []integer.Layer{product(integer.MatMul{Image: true, In: 4, Out: 6, Window: squareWindow(3, 2, 1, 1)})}},
		{"dilation", []int{1, 2, 11, 12}, []integer.Layer{product(integer.MatMul{Image: true, In: 2, Out: 3, Window: squareWindow(3, 1, 2, 2)})}},
		{"all at once", []int{3, 6, 13, 11}, []integer.Layer{product(integer.MatMul{Image: true, In: 6, Out: 9, Groups: 3, Window: integer.Window{
			Kernel: [2]int{3, 2}, Stride: [2]int{2, 3}, Padding: [2]int{3, 1}, Dilation: [2]int{2, 3}}})}},
		{"padding wider than the image", []int{1, 2, 2, 2}, []integer.Layer{product(integer.MatMul{Image: true, In: 2, Out: 3, Window: squareWindow(5, 1, 4, 1)})}},
		{"points among padding", []int{2, 12, 4, 9}, []integer.Layer{product(integer.MatMul{Image: true, In: 12, Out: 8, Groups: 2, Window: squareWindow(1, 1, 1, 1)})}},
		{"more pixels out than in", []int{1, 40, 8, 8}, []integer.Layer{product(integer.MatMul{Image: true, In: 40, Out: 2, Window: squareWindow(2, 1, 4, 1)})}},
		{"points", []int{2, 8, 5, 5}, []integer.Layer{product(integer.MatMul{Image: true, In: 8, Out: 20, Window: squareWindow(1, 1, 0, 1)})}},
		{"groups", []int{2, 8, 5, 5}, []integer.Layer{product(integer.MatMul{Image: true, In: 8, Out: 4, Groups: 4, Window: squareWindow(3, 1, 1, 1)})}},
		{"depthwise", []int{2, 19, 7, 6}, []integer.Layer{
			product(integer.MatMul{Image: true, In: 19, Out: 19, Groups: 19, Window: squareWindow(3, 2, 1, 1), ReLU: true, Output: scale()}),
			product(integer.MatMul{Image: true, In: 19, Out: 19, Groups: 19, Window: squareWindow(3, 1, 1, 1)}),
		}},
		{"pool", []int{2, 3, 9, 9}, []integer.Layer{
			product(integer.MatMul{Image: true, In: 3, Out: 40, Window: squareWindow(3, 1, 1, 1), ReLU: true, Output: scale()}),
			&integer.MaxPool{Window: squareWindow(3, 2, 1, 1)},
			product(integer.MatMul{Image: true, In: 40, Out: 7, Window: squareWindow(3, 1, 0, 1)}),
		}},
		{"classifier", []int{70, 1, 12, 12}, []integer.Layer{
			product(integer.MatMul{Image: true, In: 1, Out: 8, Window: squareWindow(3, 1, 1, 1), ReLU: true, Output: scale()}),
			&integer.MaxPool{Window: squareWindow(2, 2, 0, 1)},
			product(integer.MatMul{Image: true, In: 8, Out: 12, Window: squareWindow(3, 1, 1, 1), ReLU: true, Output: scale()}),
			&integer.MaxPool{Window: squareWindow(2, 2, 0, 1)},
			integer.Flatten{},
			product(integer.MatMul{In: 12 * 9, Out: 10}),
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			n := &integer.Network{Input: integer.Scale{Step: 0.03, Zero: uint8(r.IntN(256))}, Image: len(row.shape) == 4, Layers: row.layers}
			_, shapes, err := n.Shapes(row.shape)
			if err != nil {
				t.Fatal(err)
			}
			x := make([]float32, ir.Len(row.shape))
			for i := range x {
				x[i] = float32(r.NormFloat64() * 2)
			}
			var want []float32
			for size := ir.Len(shapes[0]); len(want)*size < len(x)*ir.Len(shapes[len(shapes)-1]); {
				at := len(want) / ir.Len(shapes[len(shapes)-1])
				want = append(want, reference(n, x[at*size:][:size], shapes)...)
			}
			for _, k := range byteKernels() {
				for _, threads := range []int{1, 3} {
					d := New(threads)
					d.bytes = k
					got, err := runQuantized(d, n, row.shape, x)
					d.Close()
					if err != nil {
						t.Fatal(err)
					}
					if len(got) != len(want) {
						t.Fatalf("%d elements, want %d", len(got), len(want))
					}
					equal(t, fmt.Sprint(k.name, " ", threads), got, want)
				}
			}
		})
	}
}

// TestQuantizedRefusesNaN expects an error for values that cannot be quantized.
func TestQuantizedRefusesNaN(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	n := &integer.Network{Input: integer.Scale{Step: 0.1}, Layers: []integer.Layer{randomProduct(r, integer.MatMul{In: 40, Out: 3})}}
	d := New(2)
	defer d.Close()
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		for _, at := range []int{0, 39, 40*100 - 1} {
			x := make([]float32, 40*100)
			x[at] = float32(bad)
			_, err := runQuantized(d, n, []int{100, 40}, x)
			if e := (*ir.NonFiniteError)(nil); !errors.As(err, &e) || e.Element != at {
				t.Errorf("%v at %d: %v", bad, at, err)
			}
		}
	}
}

func TestQuantizedShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	rows := &integer.Network{Layers: []integer.Layer{randomProduct(r, integer.MatMul{In: 4, Out: 3})}}
	images := &integer.Network{Image: true, Layers: []integer.Layer{randomProduct(r, integer.MatMul{Image: true, In: 4, Out: 3, Window: squareWindow(3, 1, 0, 1)})}}
	for _, c := range []struct {
		n     *integer.Network
		shape []int
	}{{rows, nil}, {rows, []int{3, 5}}, {images, []int{4, 9, 9}}, {images, []int{1, 3, 9, 9}}, {images, []int{1, 4, 2, 9}}} {
		if shape, err := c.n.Output(c.shape); err == nil {
			t.Errorf("%v becomes %v", c.shape, shape)
		}
	}
}

func TestInt8Linear(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for _, set := range Implementations() {
		d := NewWith(set, 2)
		for _, s := range [][3]int{{1, 1, 1}, {1, 40, 130}, {3, 17, 64}, {4, 16, 65}, {8, 33, 70}, {9, 5, 11}, {70, 20, 31}, {0, 3, 4}} {
			m, out, in := s[0], s[1], s[2]
			w := &integer.Weights{Out: out, In: in, Weight: signed(randomBytes(r, out*in))}
			for range out {
				w.Step = append(w.Step, float32(r.Float64()))
			}
			x := make([]float32, m*in)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			got, err := runOne(d, ir.Int8Linear{Weights: w}, []int{m, in}, []int{m, out}, x)
			if err != nil {
				t.Fatal(err)
			}
			for i := range m {
				for o := range out {
					want, size := 0.0, 0.0
					for p := range in {
						v := float64(x[i*in+p]) * float64(w.Weight[o*in+p]) * float64(w.Step[o])
						want += v
						size += math.Abs(v)
					}
					if bound := size * ulp * (4 + math.Sqrt(float64(in))); !(math.Abs(float64(got[i*out+o])-want) <= bound) {
						t.Fatalf("%s: %v: element (%d, %d) is %v, want %v", set, s, i, o, got[i*out+o], want)
					}
				}
			}
		}
		d.Close()
	}
}
