package cpu

import "github.com/quernlab/quern/accel/internal/ir"

// float64Window is the geometry of a convolution in float64.
type float64Window struct {
	ir.Conv2D
	n, c, h, w     int // x
	o, oh, ow      int // y
	kh, kw         int
	perIn, perOut  int // channels per group
	imageX, imageY int // elements per plane
}

func newFloat64Window(op ir.Conv2D, x, w, y []int) float64Window {
	return float64Window{
		Conv2D: op, n: x[0], c: x[1], h: x[2], w: x[3], o: y[1], oh: y[2], ow: y[3], kh: w[2], kw: w[3],
		perIn: x[1] / op.Groups, perOut: y[1] / op.Groups, imageX: x[2] * x[3], imageY: y[2] * y[3],
	}
}

// each calls f for every output of a plane and every kernel element whose input is inside
// the image, with the offsets in y's plane, the kernel and x's plane.
func (g *float64Window) each(f func(y, k, x int)) {
	for i := range g.oh {
		for j := range g.ow {
			for u := range g.kh {
				row := i*g.Stride[0] + u*g.Dilation[0] - g.Padding[0]
				if row < 0 || row >= g.h {
					continue
				}
				for v := range g.kw {
					if column := j*g.Stride[1] + v*g.Dilation[1] - g.Padding[1]; column >= 0 && column < g.w {
						f(i*g.ow+j, u*g.kw+v, row*g.w+column)
					}
				}
			}
		}
	}
}

// plane returns plane i of an array of planes.
func plane(data []float64, i, size int) []float64 { return data[i*size : (i+1)*size] }

// float64Conv computes y = x ∗ w + b, one plane of y per chunk.
func float64Conv(s ir.Step) *float64Op {
	g := newFloat64Window(s.Op.(ir.Conv2D), s.In[0].Shape, s.In[1].Shape, s.Out[0].Shape)
	return &float64Op{step: s, chunks: g.n * g.o, part: func(k *float64Op, chunk int) {
		image, o := chunk/g.o, chunk%g.o
		y := plane(k.out, chunk, g.imageY)
		bias := 0.0
		if len(k.in) == 3 {
			bias = k.in[2][o]
		}
		for i := range y {
			y[i] = bias
		}
		for c := range g.perIn {
			x := plane(k.in[0], image*g.c+o/g.perOut*g.perIn+c, g.imageX)
			w := plane(k.in[1], o*g.perIn+c, g.kh*g.kw)
			g.each(func(i, j, at int) { y[i] += w[j] * x[at] })
		}
	}}
}

// float64ConvInput computes the gradient of x, one plane per chunk.
func float64ConvInput(s ir.Step) *float64Op {
	g := newFloat64Window(s.Op.(ir.Conv2DInputGradient).Conv2D, s.Out[0].Shape, s.In[1].Shape, s.In[0].Shape)
	return &float64Op{step: s, chunks: g.n * g.c, part: func(k *float64Op, chunk int) {
		image, c := chunk/g.c, chunk%g.c
		dx := plane(k.out, chunk, g.imageX)
		clear(dx)
		for o := range g.perOut {
			o += c / g.perIn * g.perOut
			dy := plane(k.in[0], image*g.o+o, g.imageY)
			w := plane(k.in[1], o*g.perIn+c%g.perIn, g.kh*g.kw)
			g.each(func(i, j, at int) { dx[at] += w[j] * dy[i] })
		}
	}}
}

// float64ConvWeight computes the gradient of w, one kernel of one channel per chunk.
func float64ConvWeight(s ir.Step) *float64Op {
	g := newFloat64Window(s.Op.(ir.Conv2DWeightGradient).Conv2D, s.In[0].Shape, s.Out[0].Shape, s.In[1].Shape)
	return &float64Op{step: s, chunks: g.o * g.perIn, part: func(k *float64Op, chunk int) {
		o, c := chunk/g.perIn, chunk%g.perIn
		dw := plane(k.out, chunk, g.kh*g.kw)
		clear(dw)
		for image := range g.n {
			x := plane(k.in[0], image*g.c+o/g.perOut*g.perIn+c, g.imageX)
			dy := plane(k.in[1], image*g.o+o, g.imageY)
			g.each(func(i, j, at int) { dw[j] += dy[i] * x[at] })
		}
	}}
}
