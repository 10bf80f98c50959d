package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

// winogradConv is a convolution by Winograd's transforms, or the gradient of x, which is
// the convolution of dy with the flipped kernel and exchanged channels. A chunk runs a part
// of the images through all stages, in memory that stays in the L2 cache.
type winogradConv struct {
	tiling
	convOperands
	device         *Device
	kernel         *winogradKernel
	source         tiledSource
	in, out        int // channels
	transposed     bool
	rowOffsets     []int // offsets of the results
	taps           []int // offsets of the weights
	step           int   // distance of the transformed weights' matrices
	panels, blocks int   // panels of output channels, and chunks over them
	group          int   // panels that are computed together
}

// Limits of a chunk.
const (
	winogradTiles   = 64      // tiles
	winogradResults = 1 << 17 // maximum elements of transformed results
)

// Winograd's transforms pay off from this number of channels on, up to this number of
// weights.
const (
	winogradChannels = 12
	winogradWeights  = 1 << 24 // transformed elements
)

// suitsWinograd reports whether Winograd's transforms compute a convolution: if their
// multiplications, plus a share for the transforms of the weights, are fewer than those of
// a direct convolution.
func suitsWinograd(op ir.Conv2D, g *planes) bool {
	return 5*squares*(g.winogradTiles()+winogradTiles/2) < 4*g.multiplied() && allowsWinograd(op, g)
}

// allowsWinograd reports whether Winograd's transforms can compute a convolution, with enough channels.
func allowsWinograd(op ir.Conv2D, g *planes) bool {
	one := [2]int{1, 1}
	switch {
	case g.kh != 3 || g.kw != 3 || op.Stride != one || op.Dilation != one || op.Groups != 1 || max(op.Padding[0], op.Padding[1]) > 2,
		min(g.c, g.o) < winogradChannels, squares*g.c*g.o > winogradWeights:
		return false
	}
	return true
}

// winogradTiles returns the number of tiles of all images.
func (g *planes) winogradTiles() int { return g.n * ((g.oh + 3) / 4) * ((g.ow + 3) / 4) }

// multiplied returns the number of multiplications of a direct convolution with a 3×3 kernel, for each pair of channels.
func (g *planes) multiplied() int {
	return g.n * met(g.oh, g.h, g.padding[0]) * met(g.ow, g.w, g.padding[1])
}

// met returns the number of image elements under three neighboring kernel elements, summed
// over all results of a line.
func met(results, size, padding int) int {
	n := 0
	for i := range results {
		for u := range 3 {
			if at := i + u - padding; at >= 0 && at < size {
				n++
			}
		}
	}
	return n
}

func newWinogradConv(d *Device, s ir.Step, g *planes) step {
	k := &winogradConv{device: d, kernel: d.winograd, convOperands: newConvOperands(s), in: g.c, out: g.o}
	k.tiling = newTiling(g.n, g.h, g.w, g.oh, g.ow, g.padding[0], g.padding[1])
	return k.prepare()
}

// newWinogradInput returns the gradient of x.
func newWinogradInput(d *Device, s ir.Step, g *planes) step {
	k := &winogradConv{device: d, kernel: d.winograd, convOperands: newConvOperands(s), in: g.o, out: g.c, transposed: true}
	k.tiling = newTiling(g.n, g.oh, g.ow, g.h, g.w, 2-g.padding[0], 2-g.padding[1])
	return k.prepare()
}

// prepare divides the work and reserves memory.
func (k *winogradConv) prepare() step {
	t, threads := k.kernel, k.device.pool.size
	k.divide(winogradTiles)
	few := k.parts() == 1
	if parts := k.parts(); k.images > 1 && parts > threads {
		parts = min(roundUp(parts, threads), k.n)
		k.images = (k.n + parts - 1) / parts
	}
	k.source = newTiledSource(t, &k.tiling, k.in, false)
	k.rowOffsets = t.rowOffsets(min(k.oh, 4*k.rows)*k.ow, func(j int) int { return (j/k.ow*4*k.across + j%k.ow) * t.lanes })
	if k.transposed {
		k.taps = t.rowOffsets(9, func(j int) int { return (8 - j) * t.lanes })
	} else {
		k.taps = t.rowOffsets(9*t.lanes, func(j int) int { return j * t.lanes })
	}
	depth, width := t.blocks(k.in)*t.lanes, 2*t.lanes
	k.panels = (k.out + width - 1) / width
	k.step = t.blocks(k.out)*t.lanes*depth + t.lanes
	k.blocks = 1
	if k.parts() < threads {
		k.blocks = min((threads+k.parts()-1)/k.parts(), k.panels)
	}
	each := (k.panels + k.blocks - 1) / k.blocks
	k.blocks = (k.panels + each - 1) / each
	k.group = max(1, min(each, winogradResults/(squares*width*k.most())))
	if few {
		return newWinogradFewConv(k)
	}
	scratch := k.transformed() + k.results() + k.source.spread() + k.lines()
	k.device.reserve(squares*k.step, max(scratch, 9*t.lanes*t.lanes+k.lines()))
	return k
}

// lines returns the size of the workspace for interleaving.
func (k *winogradConv) lines() int {
	return k.kernel.lanes * max((4*k.rows+2)*max(k.w, k.ow), 9*k.kernel.lanes)
}

// between returns the stride from one matrix to the next in memory, for a number of vectors
// per tile. It has one more vector than the matrix, to avoid conflicts in the cache.
func (k *winogradConv) between(vectors, tiles int) int {
	return vectors*tiles*k.kernel.lanes + k.kernel.lanes
}

// transformed and results return the sizes of a chunk's matrices.
func (k *winogradConv) transformed() int {
	return squares * k.between(k.kernel.blocks(k.in), k.most())
}
func (k *winogradConv) results() int { return squares * k.between(2*k.group, k.most()) }

func (k *winogradConv) run(p *program) error {
	k.bind(p)
	p.device.pool.each(k.panels*k.kernel.blocks(k.in), func(chunk, worker int) {
		t, blocks := k.kernel, k.kernel.blocks(k.in)
		panel, block := chunk/blocks, chunk%blocks
		at := (panel*2*t.lanes*blocks + block*k.width(panel)*t.lanes) * t.lanes
		k.pack(k.device.panel[at:], k.step, panel, block, k.device.scratch[worker])
	})
	p.device.pool.run(k.parts()*k.blocks, k)
	k.release()
	return nil
}

func (k *winogradConv) work(chunk, worker int) {
	scratch := k.device.scratch[worker]
	part, block := k.part(chunk/k.blocks), chunk%k.blocks
	v, rest := scratch[:k.transformed()], scratch[k.transformed():]
	m, workspace := rest[:k.results()], rest[k.results():]
	tiles, depth := part.images*part.rows*k.across, k.kernel.blocks(k.in)
	step := k.between(depth, tiles)
	k.source.transform(v, step, k.dataX, part, 0, depth, workspace)
	each := (k.panels + k.blocks - 1) / k.blocks
	to := min((block+1)*each, k.panels)
	for first := block * each; first < to; first += k.group {
		last := min(first+k.group, to)
		weights := k.device.panel[first*2*k.kernel.lanes*depth*k.kernel.lanes:]
		k.multiply(m, v, step, weights, k.step, tiles, first, last, depth, 0)
		k.store(m, tiles, part, first, last, workspace)
	}
}

// width returns the number of vectors of a panel.
func (k *winogradConv) width(panel int) int {
	return min(2, k.kernel.blocks(k.out)-2*panel)
}

// multiply computes some panels of the transformed results from some blocks of input channels, or adds to them if add is not 0. The
// matrices of v are stepV elements apart, those of weights, which begin with the first panel, stepW.
func (k *winogradConv) multiply(m, v []float32, stepV int, weights []float32, stepW, tiles, first, last, blocks, add int) {
	t := k.kernel
	groups := (tiles + len(t.tiles) - 1) / len(t.tiles)
	next, between := tiles*t.lanes, k.between(2*k.group, tiles)
	for e := range squares {
		for p := first; p < last; p++ {
			panel := &weights[e*stepW+(p-first)*2*t.lanes*blocks*t.lanes]
			to := m[e*between+(p-first)*2*next:]
			for g := range groups {
				i, end := tiles*g/groups, tiles*(g+1)/groups
				t.tiles[end-i-1][k.width(p)-1](blocks, &v[e*stepV+i*t.lanes], next, panel, &to[i*t.lanes], next, add)
			}
		}
	}
}

// store transforms panels of results back and stores them.
func (k *winogradConv) store(m []float32, tiles int, p tilingPart, first, last int, workspace []float32) {
	t := k.kernel
	var ends [2 * 16]float32
	for i := range t.lanes {
		ends[t.lanes+i] = k.low
	}
	pitch := 4 * k.across * t.lanes
	from, to := k.result(p)
	image, workspace := workspace[:k.source.spread()], workspace[k.source.spread():]
	for b := 2 * first; b < min(2*last, t.blocks(k.out)); b++ {
		c := b * t.lanes
		if k.dataB != nil {
			clear(ends[:t.lanes])
			copy(ends[:t.lanes], k.dataB[c:])
		}
		for i := range p.images {
			for r := range p.rows {
				at := m[((b-2*first)*tiles+(i*p.rows+r)*k.across)*t.lanes:]
				t.output(k.across, &image[4*r*pitch], pitch, &at[0], k.between(2*k.group, tiles), &ends[0])
			}
			y := k.dataY[((p.first+i)*k.out+c)*k.oh*k.ow+from*k.ow:]
			t.deinterleaveRows(y, k.oh*k.ow, min(t.lanes, k.out-c), (to-from)*k.ow, image, k.rowOffsets, workspace)
		}
	}
}

// pack transforms the weights of a panel and a block of input channels. The elements of a transformed square are step apart.
func (k *winogradConv) pack(dst []float32, step, panel, block int, workspace []float32) {
	t := k.kernel
	width := k.width(panel) * t.lanes
	c := block * t.lanes
	n := min(t.lanes, k.in-c)
	transposed, workspace := workspace[:9*t.lanes*t.lanes], workspace[9*t.lanes*t.lanes:]
	for v := range k.width(panel) {
		o := (2*panel + v) * t.lanes
		q := min(t.lanes, k.out-o)
		if k.transposed {
			for i := range n {
				t.interleaveRows(transposed[9*i*t.lanes:], k.dataW[((c+i)*k.out+o)*9:], 9, q, 9, k.taps, workspace)
			}
		} else {
			t.interleaveRows(transposed, k.dataW[(o*k.in+c)*9:], 9*k.in, q, 9*n, k.taps, workspace)
		}
		to := dst[v*t.lanes:]
		ahead, row := &transposed[0], 0
		if at := (o*k.in + c + t.lanes) * 9; !k.transposed && at < len(k.dataW) { // the same output channels of the next block
			ahead, row = &k.dataW[at], 9*k.in
		}
		t.weight(n, &to[0], step, width, &transposed[0], ahead, row)
		for e := range squares {
			for i := n; i < t.lanes; i++ {
				clear(to[e*step+i*width:][:t.lanes])
			}
		}
	}
}
