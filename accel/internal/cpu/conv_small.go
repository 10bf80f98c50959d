package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Convolutions of small images, most of whose results meet padding: each place of a
// result is by itself a product of matrices, images by channels and channels by
// outputs, for each element of the kernel that meets an element of the image there.
// Nothing is multiplied by padding.

// meeting is a place of the result, an element of the kernel and the place of the
// image that they meet in.
type meeting struct{ result, tap, image int }

// meetings are all of a convolution, by place of the result, or of the image if it
// is turned and these are the results.
func (g *planes) meetings(turned bool) [][]meeting {
	list := make([][]meeting, g.oh*g.ow)
	if turned {
		list = make([][]meeting, g.h*g.w)
	}
	for y := range g.oh * g.ow {
		for t := range g.kh * g.kw {
			row := y/g.ow*g.stride[0] + t/g.kw*g.dilation[0] - g.padding[0]
			column := y%g.ow*g.stride[1] + t%g.kw*g.dilation[1] - g.padding[1]
			if row < 0 || row >= g.h || column < 0 || column >= g.w {
				continue
			}
			m := meeting{y, t, row*g.w + column}
			if turned {
				m.result, m.image = m.image, m.result
			}
			list[m.result] = append(list[m.result], m)
		}
	}
	return list
}

// Where images are small, and enough of them and of their channels are there: in
// large images a place's neighbours lie too far away.
const (
	smallPlaces   = 256
	smallImages   = 8
	smallChannels = 12
	smallKernel   = 1 << 18 // elements of the kernel for a panel of outputs
	smallResults  = 8192    // places of images that are worked on together
)

// isSmall tells whether a convolution is computed place by place: whether that
// leaves out a tenth at least of the multiplications, or there is a stride, which
// takes the other ways' neighbours apart.
func (k *conv2d) isSmall() bool {
	area := k.kh * k.kw
	if k.groups != 1 || k.n < smallImages || min(k.c, k.o) < smallChannels || max(k.h*k.w, k.oh*k.ow) > smallPlaces ||
		2*k.device.winograd.lanes*area*max(k.c, k.o) > smallKernel {
		return false
	}
	count := 0
	for _, list := range k.meetings(false) {
		count += len(list)
	}
	return k.phases > 1 || 10*count <= 9*area*k.oh*k.ow
}

// places lays the images of a batch out place by place: each is a matrix of images
// by channels, blocks of channels apart.
type placesOf struct {
	kernel             *winogradKernel
	n, channels, count int
	table              []int
}

func newPlacesOf(t *winogradKernel, n, channels, count int) placesOf {
	return placesOf{t, n, channels, count, t.places(count, func(j int) int { return j * n * t.lanes })}
}

// size is the number of elements, and apart that of a block.
func (p *placesOf) size() int  { return p.kernel.blocks(p.channels) * p.apart() }
func (p *placesOf) apart() int { return p.count * p.n * p.kernel.lanes }

// chunks are the images' blocks of channels.
func (p *placesOf) chunks() int { return p.n * p.kernel.blocks(p.channels) }

// lay lays out one chunk of x.
func (p *placesOf) lay(dst, x []float32, chunk int, room []float32) {
	image, c := chunk%p.n, chunk/p.n*p.kernel.lanes
	p.kernel.turnRows(dst[chunk/p.n*p.apart()+image*p.kernel.lanes:], x[(image*p.channels+c)*p.count:], p.count, min(p.kernel.lanes, p.channels-c), p.count, p.table, room)
}

// smallConv is a convolution of small images, or the gradient of x. One chunk takes
// a panel of output channels, whose weights it lays out for itself, and a part of
// the batch.
type smallConv struct {
	device       *Device
	kernel       *winogradKernel
	before       placesOf
	images       int // that are worked on together
	after        int // places of a result
	out, area    int
	meetings     [][]meeting
	turned       bool
	low          float32
	parts        int   // of the batch
	results      []int // table of an image's results
	taps         []int // table of weights
	argX, argW   ir.Operand
	argB, argY   ir.Operand
	laying       bool
	dataX, dataW []float32
	dataB, dataY []float32
}

func newSmallConv(d *Device, s ir.Step, g *planes, turned bool) *smallConv {
	t := d.winograd
	k := &smallConv{device: d, kernel: t, argX: s.In[0], argW: s.In[1], argY: s.Out[0], turned: turned, low: float32(math.Inf(-1)), area: g.kh * g.kw}
	if len(s.In) == 3 {
		k.argB = s.In[2]
	}
	if s.Epilogue != nil {
		k.low = 0
	}
	k.meetings = g.meetings(turned)
	k.before, k.after, k.out = newPlacesOf(t, g.n, g.c, g.h*g.w), g.oh*g.ow, g.o
	if turned {
		k.before, k.after, k.out = newPlacesOf(t, g.n, g.o, g.oh*g.ow), g.h*g.w, g.c
	}
	panels := (t.blocks(k.out) + 1) / 2
	k.parts = max(1, min(4*d.pool.size/panels, g.n/smallImages))
	each := (g.n + k.parts - 1) / k.parts
	k.parts = (g.n + each - 1) / each
	most := max(1, smallResults/k.after)
	groups := (each + most - 1) / most
	k.images = (each + groups - 1) / groups
	k.results = t.places(k.after, func(j int) int { return j * k.images * t.lanes })
	step := t.blocks(k.before.channels) * t.lanes
	columns := k.area
	if !turned {
		columns *= t.lanes
	}
	// Weights lie by taps, within them by channels, as wide as a whole panel.
	k.taps = t.places(columns, func(j int) int { return (j%k.area*step + j/k.area) * 2 * t.lanes })
	room := t.lanes * max(columns, k.after, k.before.count)
	d.reserve(k.before.size(), k.area*step*2*t.lanes+k.after*2*k.images*t.lanes+room)
	return k
}

func (k *smallConv) run(p *program) error {
	k.dataX, k.dataW, k.dataY = elements[float32](p, k.argX), elements[float32](p, k.argW), elements[float32](p, k.argY)
	if k.argB.Shape != nil {
		k.dataB = elements[float32](p, k.argB)
	}
	k.laying = true
	p.device.pool.run(k.before.chunks(), k)
	k.laying = false
	p.device.pool.run((k.kernel.blocks(k.out)+1)/2*k.parts, k)
	k.dataX, k.dataW, k.dataB, k.dataY = nil, nil, nil, nil
	return nil
}

func (k *smallConv) work(chunk, worker int) {
	scratch := k.device.scratch[worker]
	if k.laying {
		k.before.lay(k.device.panel, k.dataX, chunk, scratch)
		return
	}
	t := k.kernel
	size := k.area * t.blocks(k.before.channels) * t.lanes * 2 * t.lanes
	weights, m, room := scratch[:size], scratch[size:][:2*k.after*k.images*t.lanes], scratch[size+2*k.after*k.images*t.lanes:]
	panel, part := chunk/k.parts, chunk%k.parts
	each := (k.before.n + k.parts - 1) / k.parts
	end := min((part+1)*each, k.before.n)
	k.pack(weights, panel, room)
	for first := part * each; first < end; first += k.images {
		images := min(k.images, end-first)
		k.multiply(m, weights, first, images)
		k.store(m, panel, first, images, room)
	}
}

// multiply computes a panel's results for some images.
func (k *smallConv) multiply(m, weights []float32, first, images int) {
	t, depth := k.kernel, k.kernel.blocks(k.before.channels)
	groups := (images + len(t.tiles) - 1) / len(t.tiles)
	next, width := k.after*k.images*t.lanes, 2*t.lanes
	for y, list := range k.meetings {
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

// vectors is the number of vectors of a panel.
func (k *smallConv) vectors(panel int) int { return min(2, k.kernel.blocks(k.out)-2*panel) }

// pack lays out the weights of a panel of output channels: for each element of the
// kernel, input channels by outputs.
func (k *smallConv) pack(dst []float32, panel int, room []float32) {
	t, in := k.kernel, k.before.channels
	width := 2 * t.lanes
	depth := t.blocks(in) * t.lanes
	for v := range k.vectors(panel) {
		o := (2*panel + v) * t.lanes
		q := min(t.lanes, k.out-o)
		for c := 0; c < in; c++ {
			to := dst[c*width+v*t.lanes:]
			if k.turned {
				t.turnRows(to, k.dataW[(c*k.out+o)*k.area:], k.area, q, k.area, k.taps, room)
				continue
			}
			n := min(t.lanes, in-c)
			t.turnRows(to, k.dataW[(o*in+c)*k.area:], k.area*in, q, n*k.area, k.taps, room)
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

// store puts the results of a panel in their places.
func (k *smallConv) store(m []float32, panel, first, images int, room []float32) {
	t := k.kernel
	for v := range k.vectors(panel) {
		o := (2*panel + v) * t.lanes
		q := min(t.lanes, k.out-o)
		for i := range images {
			y := k.dataY[((first+i)*k.out+o)*k.after:]
			t.turnRowsBack(y, k.after, q, k.after, m[(v*k.after*k.images+i)*t.lanes:], k.results, room)
			if k.dataB == nil && k.low < 0 {
				continue
			}
			for r := range q {
				bias := float32(0)
				if k.dataB != nil {
					bias = k.dataB[o+r]
				}
				k.device.shift.biasRows(1, k.after, &y[r*k.after], 0, &y[r*k.after], 0, bias, k.low)
			}
		}
	}
}
