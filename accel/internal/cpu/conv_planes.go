package cpu

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// planes is the memory layout of images in a convolution. Each channel of a few images is
// one contiguous run, with zeros between rows and images as padding: the zeros right of a
// row are those left of the next. In such a run, the elements that one kernel element reads
// for all outputs are the run itself, shifted, so the matmul needs no copies of patches;
// results that belong to no output are dropped when they are stored. A stride splits a
// channel into one run (a phase) per remainder of the positions, in which neighbors are
// contiguous again. Remainders that no kernel element reads have no run, so the memory does
// not grow with the stride.
type planes struct {
	n, c, h, w, o, oh, ow, kh, kw int
	stride, padding, dilation     [2]int
	groups                        int

	rows, pitch int      // rows and row stride of one image in one run
	image       int      // rows·pitch
	reach       int      // the largest shift
	phases      int      // runs per channel
	shift       []int    // shift of each kernel element within its run
	phase       []int    // run of each kernel element
	remainders  [][2]int // of the positions in each run
}

func newPlanes(op ir.Conv2D, n, c, h, w, o, oh, ow, kh, kw int) planes {
	g := planes{n: n, c: c, h: h, w: w, o: o, oh: oh, ow: ow, kh: kh, kw: kw,
		stride: op.Stride, padding: op.Padding, dilation: op.Dilation, groups: op.Groups}
	sy, sx := g.stride[0], g.stride[1]
	g.rows = max((h+g.padding[0]+sy-1)/sy, oh)
	g.pitch = max((w+g.padding[1]+sx-1)/sx, ow)
	g.image = g.rows * g.pitch
	for u := range kh {
		for v := range kw {
			y, x := u*g.dilation[0], v*g.dilation[1]
			s := y/sy*g.pitch + x/sx
			g.shift = append(g.shift, s)
			g.phase = append(g.phase, g.run([2]int{y % sy, x % sx}))
			g.reach = max(g.reach, s)
		}
	}
	g.phases = len(g.remainders)
	return g
}

// run returns the run of the positions with these remainders, which it adds if it is new.
func (g *planes) run(remainder [2]int) int {
	i := slices.Index(g.remainders, remainder)
	if i < 0 {
		i = len(g.remainders)
		g.remainders = append(g.remainders, remainder)
	}
	return i
}

// strided reports whether there is a stride.
func (g *planes) strided() bool { return g.stride != [2]int{1, 1} }

// in and out return the channels of x and of y in one group.
func (g *planes) in() int  { return g.c / g.groups }
func (g *planes) out() int { return g.o / g.groups }

// runOffset returns where the elements under kernel element t of channel c begin in runs of length
// whole.
func (g *planes) runOffset(c, t, whole int) int { return (c*g.phases+g.phase[t])*whole + g.shift[t] }

// span returns the length of the part of a run that belongs to the outputs of a number of
// images, and the length of a whole run, including the overrun of a tile of columns.
func (g *planes) span(images, columns int) (used, whole int) {
	used = roundUp(images*g.image, columns)
	return used, roundUp(used+g.reach, 16)
}

// grid is rows of elements in memory.
type grid struct {
	data      []float32
	row, step int // strides of the rows and of the columns
}

// copyGrid copies rows×cols elements. Runs of at least 8 elements that are contiguous, or every second
// one, are copied by assembly, if available.
func (d *Device) copyGrid(to, from grid, rows, cols int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	if to.step == 1 && from.step == 1 {
		if d.kernel.copyRows != nil && cols >= 8 {
			_, _ = to.data[(rows-1)*to.row+cols-1], from.data[(rows-1)*from.row+cols-1]
			d.kernel.copyRows(&to.data[0], &from.data[0], rows, cols, to.row, from.row)
			return
		}
		for r := range rows {
			copy(to.data[r*to.row:][:cols], from.data[r*from.row:])
		}
		return
	}
	if to.step == 1 && from.step == 2 && d.kernel.everySecond != nil && cols >= 8 {
		_, _ = to.data[(rows-1)*to.row+cols-1], from.data[(rows-1)*from.row+2*(cols-1)]
		d.kernel.everySecond(&to.data[0], &from.data[0], rows, cols, to.row, from.row)
		return
	}
	for r := range rows {
		out, in := to.data[r*to.row:], from.data[r*from.row:]
		for i := range cols {
			out[i*to.step] = in[i*from.step]
		}
	}
}

// grids returns a plane of x [H, W] and the part of an image's run of one phase that holds
// its elements.
func (g *planes) grids(x, run []float32, phase int) (image, spread grid, rows, cols int) {
	y0, iy, rows := firstPosition(g.h, g.padding[0], g.stride[0], g.remainders[phase][0])
	x0, ix, cols := firstPosition(g.w, g.padding[1], g.stride[1], g.remainders[phase][1])
	if rows <= 0 || cols <= 0 {
		return grid{}, grid{}, 0, 0
	}
	image = grid{x[iy*g.w+ix:], g.stride[0] * g.w, g.stride[1]}
	return image, grid{run[y0*g.pitch+x0:], g.pitch, 1}, rows, cols
}

// firstPosition returns the first position of a run whose element has a given remainder, that
// element, and the number of such elements.
func firstPosition(size, padding, stride, remainder int) (at, from, count int) {
	if short := padding - remainder; short > 0 {
		at = (short + stride - 1) / stride
	}
	from = at*stride + remainder - padding
	return at, from, (size - from + stride - 1) / stride
}

// spread writes channels from..to of some images into runs of length whole, one run per
// phase and channel.
func (g *planes) spread(d *Device, runs, x []float32, first, images, from, to, whole int) {
	for c := from; c < to; c++ {
		for p := range g.phases {
			run := runs[((c-from)*g.phases+p)*whole:][:whole]
			clear(run)
			for i := range images {
				image, spread, rows, cols := g.grids(x[((first+i)*g.c+c)*g.h*g.w:], run[i*g.image:], p)
				d.copyGrid(spread, image, rows, cols)
			}
		}
	}
}

// spreadOutputs writes channels from..to of a tensor with y's shape into runs, with zeros
// for positions without an output, and lead zeros at the front.
func (g *planes) spreadOutputs(d *Device, runs, y []float32, first, images, from, to, lead, whole int) {
	for o := from; o < to; o++ {
		run := runs[(o-from)*whole:][:whole]
		clear(run)
		for i := range images {
			d.copyGrid(grid{run[lead+i*g.image:], g.pitch, 1}, grid{y[((first+i)*g.o+o)*g.oh*g.ow:], g.ow, 1}, g.oh, g.ow)
		}
	}
}
