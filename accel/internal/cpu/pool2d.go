package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.AvgPool2D](newAvgPool)
var _ = implementFloat32[ir.AvgPool2DGradient](newAvgPool)
var _ = implementFloat32[ir.MaxPool2D](newMaxPool)
var _ = implementFloat32[ir.MaxPool2DGradient](newMaxPool)

// windows is the geometry of pooling over planes of h×w.
type windows struct {
	count, h, w, oh, ow               int // number of planes, and their sizes
	kernel, stride, padding, dilation [2]int
	per                               int // planes per chunk
}

func newWindows(op ir.Pool, x, y []int) windows {
	g := windows{count: x[0] * x[1], h: x[2], w: x[3], oh: y[2], ow: y[3], kernel: op.Kernel, stride: op.Stride, padding: op.Padding, dilation: op.Dilation}
	g.per = max(1, moveLen/max(1, g.h*g.w))
	return g
}

// each calls f with every window and the position of its first element, which may be in the
// padding.
func (g *windows) each(f func(i, y, x int)) {
	i := 0
	for oy := range g.oh {
		for ox := range g.ow {
			f(i, oy*g.stride[0]-g.padding[0], ox*g.stride[1]-g.padding[1])
			i++
		}
	}
}

// before and after return plane i of a tensor of the shape of x, or of y.
func (g *windows) before(x []float32, i int) []float32 { return x[i*g.h*g.w:][:g.h*g.w] }
func (g *windows) after(y []float32, i int) []float32  { return y[i*g.oh*g.ow:][:g.oh*g.ow] }

// pairs reports whether the windows are 2×2 and adjacent without overlap.
func (g *windows) pairs() bool {
	two, none := [2]int{2, 2}, [2]int{}
	return g.kernel == two && g.stride == two && g.padding == none && g.dilation == [2]int{1, 1}
}

// maxPool computes the maximum of each window, or the gradient.
type maxPool struct {
	windows
	device        *Device
	in, y, dy, dx ir.Operand
	gradient      bool
}

func newMaxPool(d *Device, s ir.Step) (step, error) {
	k := &maxPool{device: d, in: s.In[0]}
	if op, ok := s.Op.(ir.MaxPool2DGradient); ok {
		k.gradient, k.y, k.dy, k.dx = true, s.In[1], s.In[2], s.Out[0]
		k.windows = newWindows(op.Pool, s.In[0].Shape, s.In[1].Shape)
		return k, nil
	}
	k.y = s.Out[0]
	k.windows = newWindows(s.Op.(ir.MaxPool2D).Pool, s.In[0].Shape, s.Out[0].Shape)
	d.reserve(0, k.rowSize()+k.firsts())
	return k, nil
}

// rowSize returns the length of a row with its padding, as far as windows reach.
func (g *windows) rowSize() int {
	return max(g.firsts()+(g.kernel[1]-1)*g.dilation[1], g.padding[1]+g.w)
}

// firsts returns the number of elements of a row from the first element of the first window to that of the last one.
func (g *windows) firsts() int { return max(0, (g.ow-1)*g.stride[1]+1) }

func (k *maxPool) run(p *program) error {
	x, y := elements[float32](p, k.in), elements[float32](p, k.y)
	var dy, dx []float32
	if k.gradient {
		dy, dx = elements[float32](p, k.dy), elements[float32](p, k.dx)
	}
	p.device.pool.split(k.count, k.per, func(i, end, worker int) {
		for ; i < end; i++ {
			x, y := k.before(x, i), k.after(y, i)
			if k.gradient {
				k.backward(x, y, k.after(dy, i), k.before(dx, i))
			} else {
				k.forward(x, y, k.device.scratch[worker])
			}
		}
	})
	return nil
}

func (k *maxPool) forward(x, y, scratch []float32) {
	if k.pairs() {
		k.device.channels.pool(k.oh, k.ow, &y[0], &x[0], k.w)
		return
	}
	// The maximum of the rows of windows, then of their columns for a window at each column, of which some are needed.
	row, all := scratch[:k.rowSize()], scratch[k.rowSize():][:k.firsts()]
	inner := row[k.padding[1]:][:k.w]
	v := k.device.vectors
	fill(row, float32(math.Inf(-1))) // the padding
	for oy := range k.oh {
		empty := true
		for u := range k.kernel[0] {
			r := oy*k.stride[0] - k.padding[0] + u*k.dilation[0]
			switch {
			case r < 0 || r >= k.h:
			case empty:
				copy(inner, x[r*k.w:][:k.w])
				empty = false
			default:
				v.maximum(inner, inner, x[r*k.w:][:k.w])
			}
		}
		if empty {
			fill(inner, float32(math.Inf(-1)))
		}
		from := row[:len(all)]
		for u := 1; u < k.kernel[1]; u++ {
			v.maximum(all, from, row[u*k.dilation[1]:][:len(all)])
			from = all
		}
		k.device.copyGrid(grid{y[oy*k.ow:], k.ow, 1}, grid{from, len(from), k.stride[1]}, 1, k.ow)
	}
}

// largestIn returns the largest element of a window, or the last NaN, and its index.
func (g *windows) largestIn(x []float32, top, left int) (float32, int) {
	best, at := float32(math.Inf(-1)), -1
	for u := range g.kernel[0] {
		r := top + u*g.dilation[0]
		if r < 0 || r >= g.h {
			continue
		}
		for v := range g.kernel[1] {
			c := left + v*g.dilation[1]
			if c < 0 || c >= g.w {
				continue
			}
			if e := x[r*g.w+c]; e > best || e != e || at < 0 {
				best, at = e, r*g.w+c
			}
		}
	}
	return best, at
}

func (k *maxPool) backward(x, y, dy, dx []float32) {
	if !k.pairs() {
		clear(dx)
		k.each(func(i, top, left int) {
			if _, at := k.largestIn(x, top, left); at >= 0 {
				dx[at] += dy[i]
			}
		})
		return
	}
	if k.w%2 != 0 || k.h%2 != 0 {
		clear(dx) // elements in no window
	}
	k.device.channels.poolSlope(k.oh, k.ow, &dx[0], &x[0], k.w, &y[0], &dy[0])
}

// avgPool computes the mean of each window, with padding counted as zeros, or the gradient.
type avgPool struct {
	windows
	in, out  ir.Operand
	gradient bool
}

func newAvgPool(_ *Device, s ir.Step) (step, error) {
	k := &avgPool{in: s.In[0], out: s.Out[0]}
	if op, ok := s.Op.(ir.AvgPool2DGradient); ok {
		k.gradient = true
		k.windows = newWindows(op.Pool, s.Out[0].Shape, s.In[0].Shape)
		return k, nil
	}
	k.windows = newWindows(s.Op.(ir.AvgPool2D).Pool, s.In[0].Shape, s.Out[0].Shape)
	return k, nil
}

func (k *avgPool) run(p *program) error {
	x, y := elements[float32](p, k.in), elements[float32](p, k.out)
	if k.gradient {
		x, y = y, x
	}
	p.device.pool.split(k.count, k.per, func(i, end, _ int) {
		for ; i < end; i++ {
			k.plane(k.before(x, i), k.after(y, i))
		}
	})
	return nil
}

func (k *avgPool) plane(x, y []float32) {
	count := float64(k.kernel[0] * k.kernel[1])
	share := float32(1 / count)
	if k.gradient {
		clear(x)
	}
	k.each(func(j, top, left int) {
		from, to := max(left, 0), min(left+k.kernel[1], k.w)
		if from >= to {
			if !k.gradient {
				y[j] = 0
			}
			return
		}
		sum := 0.0 // in float64, so that the mean of equal numbers is the number
		for r := max(top, 0); r < min(top+k.kernel[0], k.h); r++ {
			row := x[r*k.w:][from:to]
			if k.gradient {
				for c := range row {
					row[c] += y[j] * share
				}
				continue
			}
			for _, v := range row {
				sum += float64(v)
			}
		}
		if !k.gradient {
			y[j] = float32(sum / count)
		}
	})
}
