package cpu

import "github.com/quernlab/quern/accel/internal/ir"

// float64MaxPool computes the largest element of each window, one plane per chunk.
func float64MaxPool(s ir.Step) *float64Op {
	g := newWindows(s.Op.(ir.MaxPool2D).Pool, s.In[0].Shape, s.Out[0].Shape)
	return &float64Op{step: s, chunks: g.count, part: func(k *float64Op, i int) {
		x, y := plane(k.in[0], i, g.h*g.w), plane(k.out, i, g.oh*g.ow)
		g.each(func(j, top, left int) { y[j], _ = largest(&g, x, top, left) })
	}}
}

// float64MaxPoolGradient adds dy to each window's first largest element.
func float64MaxPoolGradient(s ir.Step) *float64Op {
	g := newWindows(s.Op.(ir.MaxPool2DGradient).Pool, s.In[0].Shape, s.In[1].Shape)
	return &float64Op{step: s, chunks: g.count, part: func(k *float64Op, i int) {
		x, dy, dx := plane(k.in[0], i, g.h*g.w), plane(k.in[2], i, g.oh*g.ow), plane(k.out, i, g.h*g.w)
		clear(dx)
		g.each(func(j, top, left int) {
			if _, at := largest(&g, x, top, left); at >= 0 {
				dx[at] += dy[j]
			}
		})
	}}
}

// float64AvgPool computes the mean of each window, with padding counted as zeros.
func float64AvgPool(s ir.Step) *float64Op {
	g := newWindows(s.Op.(ir.AvgPool2D).Pool, s.In[0].Shape, s.Out[0].Shape)
	return &float64Op{step: s, chunks: g.count, part: func(k *float64Op, i int) {
		x, y := plane(k.in[0], i, g.h*g.w), plane(k.out, i, g.oh*g.ow)
		sums := make([]compensated, len(y))
		g.inside(func(j, at int) { sums[j].add(x[at]) })
		for j, s := range sums {
			y[j] = s.mean(g.kernel[0] * g.kernel[1])
		}
	}}
}

// float64AvgPoolGradient adds dy's share to each element of its window.
func float64AvgPoolGradient(s ir.Step) *float64Op {
	g := newWindows(s.Op.(ir.AvgPool2DGradient).Pool, s.Out[0].Shape, s.In[0].Shape)
	return &float64Op{step: s, chunks: g.count, part: func(k *float64Op, i int) {
		dy, dx := plane(k.in[0], i, g.oh*g.ow), plane(k.out, i, g.h*g.w)
		clear(dx)
		g.inside(func(j, at int) { dx[at] += dy[j] / float64(g.kernel[0]*g.kernel[1]) })
	}}
}

// inside calls f with every window of a pool without dilation and the offset of each of its
// elements that is inside the image.
func (g *windows) inside(f func(i, at int)) {
	g.each(func(i, top, left int) {
		for r := max(top, 0); r < min(top+g.kernel[0], g.h); r++ {
			for c := max(left, 0); c < min(left+g.kernel[1], g.w); c++ {
				f(i, r*g.w+c)
			}
		}
	})
}
