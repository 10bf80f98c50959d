package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

// Convolutions of small images, where most results overlap padding. For each position of
// the result and each kernel element that overlaps an image element there, the result gets
// a matrix multiplication of images by input channels and input channels by output
// channels. Nothing is multiplied by padding.

// tapUse is a position of the result, a kernel element (tap), and the image position under
// it.
type tapUse struct{ result, tap, image int }

// tapUses returns all tap uses of a convolution, by position of the result, or for the
// transposed convolution by position of the image.
func (g *planes) tapUses(transposed bool) [][]tapUse {
	list := make([][]tapUse, g.oh*g.ow)
	if transposed {
		list = make([][]tapUse, g.h*g.w)
	}
	for y := range g.oh * g.ow {
		for t := range g.kh * g.kw {
			row := y/g.ow*g.stride[0] + t/g.kw*g.dilation[0] - g.padding[0]
			column := y%g.ow*g.stride[1] + t%g.kw*g.dilation[1] - g.padding[1]
			if row < 0 || row >= g.h || column < 0 || column >= g.w {
				continue
			}
			m := tapUse{y, t, row*g.w + column}
			if transposed {
				m.result, m.image = m.image, m.result
			}
			list[m.result] = append(list[m.result], m)
		}
	}
	return list
}

// Limits for small images with enough channels: in large images, neighboring positions are
// too far apart in memory.
const (
	smallPlaces   = 256
	smallImages   = 8
	smallChannels = 12
	smallKernel   = 1 << 18 // kernel elements for a panel of output channels
	smallResults  = 8192    // positions by images that are computed together
)

// isSmall reports whether a convolution is computed position by position: if that saves at
// least a tenth of the multiplications, or if there is a stride, which makes neighbors
// non-contiguous for the other algorithms.
func (k *conv2d) isSmall() bool {
	area := k.kh * k.kw
	if k.groups != 1 || k.n < smallImages || min(k.c, k.o) < smallChannels || max(k.h*k.w, k.oh*k.ow) > smallPlaces ||
		2*k.device.winograd.lanes*area*max(k.c, k.o) > smallKernel {
		return false
	}
	count := 0
	for _, list := range k.tapUses(false) {
		count += len(list)
	}
	return k.strided() || 10*count <= 9*area*k.oh*k.ow
}

// positionsOf stores the images of a batch by position: for each position a matrix of
// images by channels, with blocks of channels apart.
type positionsOf struct {
	kernel             *winogradKernel
	n, channels, count int
	table              []int
}

func newPositionsOf(t *winogradKernel, n, channels, count int) positionsOf {
	return positionsOf{t, n, channels, count, t.rowOffsets(count, func(j int) int { return j * n * t.lanes })}
}

// size returns the number of elements; apart is the size of a block.
func (p *positionsOf) size() int  { return p.kernel.blocks(p.channels) * p.apart() }
func (p *positionsOf) apart() int { return p.count * p.n * p.kernel.lanes }

// chunks returns the number of chunks: blocks of channels of all images.
func (p *positionsOf) chunks() int { return p.n * p.kernel.blocks(p.channels) }

// lay copies one chunk of x to the layout.
func (p *positionsOf) lay(dst, x []float32, chunk int, workspace []float32) {
	image, c := chunk%p.n, chunk/p.n*p.kernel.lanes
	p.kernel.interleaveRows(dst[chunk/p.n*p.apart()+image*p.kernel.lanes:], x[(image*p.channels+c)*p.count:], p.count, min(p.kernel.lanes, p.channels-c), p.count, p.table, workspace)
}

// smallConv is a convolution of small images, or its gradient with respect to x. One chunk
// computes a panel of output channels, for which it packs the weights, and a part of the
// batch.
type smallConv struct {
	convOperands
	device     *Device
	kernel     *winogradKernel
	before     positionsOf
	images     int // images that are computed together
	after      int // number of positions of the result
	out, area  int
	tapUses    [][]tapUse
	transposed bool
	parts      int   // parts of the batch
	results    []int // offsets of an image's results
	taps       []int // offsets of the weights
}

func newSmallConv(d *Device, s ir.Step, g *planes, transposed bool) *smallConv {
	t := d.winograd
	k := &smallConv{device: d, kernel: t, convOperands: newConvOperands(s), transposed: transposed, area: g.kh * g.kw}
	k.tapUses = g.tapUses(transposed)
	k.before, k.after, k.out = newPositionsOf(t, g.n, g.c, g.h*g.w), g.oh*g.ow, g.o
	if transposed {
		k.before, k.after, k.out = newPositionsOf(t, g.n, g.o, g.oh*g.ow), g.h*g.w, g.c
	}
	panels := (t.blocks(k.out) + 1) / 2
	k.parts = max(1, min(4*d.pool.size/panels, g.n/smallImages))
	each := (g.n + k.parts - 1) / k.parts
	k.parts = (g.n + each - 1) / each
	most := max(1, smallResults/k.after)
	groups := (each + most - 1) / most
	k.images = (each + groups - 1) / groups
	k.results = t.rowOffsets(k.after, func(j int) int { return j * k.images * t.lanes })
	step := t.blocks(k.before.channels) * t.lanes
	columns := k.area
	if !transposed {
		columns *= t.lanes
	}
	// Weights are stored by tap, then by channel, as wide as a whole panel.
	k.taps = t.rowOffsets(columns, func(j int) int { return (j%k.area*step + j/k.area) * 2 * t.lanes })
	workspace := t.lanes * max(columns, k.after, k.before.count)
	d.reserve(k.before.size(), k.area*step*2*t.lanes+k.after*2*k.images*t.lanes+workspace)
	return k
}

func (k *smallConv) run(p *program) error {
	k.bind(p)
	p.device.pool.each(k.before.chunks(), func(chunk, worker int) {
		k.before.lay(k.device.panel, k.dataX, chunk, k.device.scratch[worker])
	})
	p.device.pool.run((k.kernel.blocks(k.out)+1)/2*k.parts, k)
	k.release()
	return nil
}

func (k *smallConv) work(chunk, worker int) {
	scratch := k.device.scratch[worker]
	t := k.kernel
	size := k.area * t.blocks(k.before.channels) * t.lanes * 2 * t.lanes
	weights, m, workspace := scratch[:size], scratch[size:][:2*k.after*k.images*t.lanes], scratch[size+2*k.after*k.images*t.lanes:]
	panel, part := chunk/k.parts, chunk%k.parts
	each := (k.before.n + k.parts - 1) / k.parts
	end := min((part+1)*each, k.before.n)
	k.pack(weights, panel, workspace)
	for first := part * each; first < end; first += k.images {
		images := min(k.images, end-first)
		k.multiply(m, weights, first, images)
		k.store(m, panel, first, images, workspace)
	}
}

// multiply computes a panel's results for some images.
func (k *smallConv) multiply(m, weights []float32, first, images int) {
	t, depth := k.kernel, k.kernel.blocks(k.before.channels)
	groups := (images + len(t.tiles) - 1) / len(t.tiles)
	next, width := k.after*k.images*t.lanes, 2*t.lanes
	for y, list := range k.tapUses {
		to := m[y*k.images*t.lanes:]
		if len(list) == 0 {
			clear(to[:images*t.lanes])
			clear(to[next:][:images*t.lanes])
		}
		for g := range groups {
			i, end := images*g/groups, images*(g+1)/groups
			for add, meet := range list {
				from := &k.device.panel[(meet.image*k.before.n+first+i)*t.lanes]
				t.tiles[end-i-1][1](depth, from, k.before.apart(), &weights[meet.tap*depth*t.lanes*width], &to[i*t.lanes], next, add)
			}
		}
	}
}

// vectors returns the number of vectors of a panel.
func (k *smallConv) vectors(panel int) int { return min(2, k.kernel.blocks(k.out)-2*panel) }

// pack packs the weights of a panel of output channels: for each kernel element, input
// channels by output channels.
func (k *smallConv) pack(dst []float32, panel int, workspace []float32) {
	t, in := k.kernel, k.before.channels
	width := 2 * t.lanes
	depth := t.blocks(in) * t.lanes
	for v := range k.vectors(panel) {
		o := (2*panel + v) * t.lanes
		q := min(t.lanes, k.out-o)
		for c := 0; c < in; c++ {
			to := dst[c*width+v*t.lanes:]
			if k.transposed {
				t.interleaveRows(to, k.dataW[(c*k.out+o)*k.area:], k.area, q, k.area, k.taps, workspace)
				continue
			}
			n := min(t.lanes, in-c)
			t.interleaveRows(to, k.dataW[(o*in+c)*k.area:], k.area*in, q, n*k.area, k.taps, workspace)
			c += n - 1
		}
	}
	if k.vectors(panel) < 2 {
		for c := range k.area * depth {
			clear(dst[c*width+t.lanes:][:t.lanes])
		}
	}
	for tap := range k.area {
		clear(dst[(tap*depth+in)*width : (tap+1)*depth*width])
	}
}

// store writes the results of a panel to y.
func (k *smallConv) store(m []float32, panel, first, images int, workspace []float32) {
	t := k.kernel
	for v := range k.vectors(panel) {
		o := (2*panel + v) * t.lanes
		q := min(t.lanes, k.out-o)
		for i := range images {
			y := k.dataY[((first+i)*k.out+o)*k.after:]
			t.deinterleaveRows(y, k.after, q, k.after, m[(v*k.after*k.images+i)*t.lanes:], k.results, workspace)
			if k.dataB == nil && k.low < 0 {
				continue
			}
			for r := range q {
				k.device.shift.biasRows(1, k.after, &y[r*k.after], 0, &y[r*k.after], 0, k.biasOf(o+r), k.low)
			}
		}
	}
}
