package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

// winogradWeight is the gradient of w by Winograd's transforms: the inverse transform of
// the weights, applied to 36 matrix multiplications of the transformed x, channels by
// tiles, with the transformed dy, tiles by channels. A chunk computes some channels of both
// and a slice of the batch, whose size depends on the shapes alone; the sums of the slices
// are added in order.
type winogradWeight struct {
	tiling
	convOperands
	device                   *Device
	kernel                   *winogradKernel
	inputs, slopes           tiledSource
	in, out                  int
	chunksAcross, chunksDown int // number of chunks over the channels of x and of dy
	slices, per              int // number of slices, and parts per slice
	taps                     []int
}

// Limits of a chunk.
const (
	winogradSumChannels = 64 // channels of x, and of dy
	winogradSumTiles    = 48
	winogradSlices      = 16 // number of chunks that gives every thread work
	winogradSums        = 1 << 22
)

func newWinogradWeight(d *Device, s ir.Step, g *planes) *winogradWeight {
	t := d.winograd
	k := &winogradWeight{device: d, kernel: t, convOperands: weightOperands(s), in: g.c, out: g.o}
	k.tiling = newTiling(g.n, g.h, g.w, g.oh, g.ow, g.padding[0], g.padding[1])
	k.divide(winogradSumTiles)
	k.inputs = newTiledSource(t, &k.tiling, k.in, false)
	k.slopes = newTiledSource(t, &k.tiling, k.out, true)
	k.chunksAcross, k.chunksDown = (k.in+winogradSumChannels-1)/winogradSumChannels, (k.out+winogradSumChannels-1)/winogradSumChannels
	k.slices = max(1, min(k.parts(), winogradSlices/(k.chunksAcross*k.chunksDown), winogradSums/(9*k.in*k.out)))
	k.per = (k.parts() + k.slices - 1) / k.slices
	k.slices = (k.parts() + k.per - 1) / k.per
	k.taps = t.rowOffsets(9*t.lanes, func(j int) int { return j * t.lanes })
	sums := 0
	if k.slices > 1 {
		sums = k.slices * 9 * k.in * k.out
	}
	workspace := t.lanes * max((4*k.rows+2)*max(k.w, k.ow), 9*t.lanes)
	spread := max(k.inputs.spread(), 9*t.lanes*t.lanes)
	d.reserve(sums, k.transformed(k.in)+k.transformed(k.out)+k.sums()+spread+workspace)
	return k
}

// transformed returns the size of a chunk's matrices for a number of channels.
func (k *winogradWeight) transformed(channels int) int {
	blocks := k.kernel.blocks(min(channels, winogradSumChannels))
	return squares * (blocks*k.most() + 1) * k.kernel.lanes
}

// sums returns the size of a chunk's results.
func (k *winogradWeight) sums() int {
	t := k.kernel
	in, out := t.blocks(min(k.in, winogradSumChannels)), t.blocks(min(k.out, winogradSumChannels))
	return squares * (in*t.lanes*out + 1) * t.lanes
}

func (k *winogradWeight) run(p *program) error {
	k.bind(p)
	p.device.pool.run(k.slices*k.chunksAcross*k.chunksDown, k)
	if k.slices > 1 {
		p.device.pool.split(len(k.dataW), moveLen, func(from, to, _ int) { k.add(from, to) })
	}
	k.release()
	return nil
}

func (k *winogradWeight) work(chunk, worker int) {
	t := k.kernel
	slice := chunk / (k.chunksAcross * k.chunksDown)
	left, top := chunk%k.chunksAcross*winogradSumChannels, chunk/k.chunksAcross%k.chunksDown*winogradSumChannels
	in, out := min(winogradSumChannels, k.in-left), min(winogradSumChannels, k.out-top)
	rows, columns := t.blocks(in), t.blocks(out)
	workspace := k.device.scratch[worker]
	take := func(n int) []float32 {
		part := workspace[:n]
		workspace = workspace[n:]
		return part
	}
	v, d, sums := take(k.transformed(k.in)), take(k.transformed(k.out)), take(k.sums())
	step := (rows*t.lanes*columns + 1) * t.lanes
	for i := slice * k.per; i < min((slice+1)*k.per, k.parts()); i++ {
		part := k.part(i)
		tiles := part.images * part.rows * k.across
		stepV, stepD := (rows*tiles+1)*t.lanes, (columns*tiles+1)*t.lanes
		k.inputs.transform(v, stepV, k.dataX, part, left/t.lanes, rows, workspace)
		k.slopes.transform(d, stepD, k.dataY, part, top/t.lanes, columns, workspace)
		add := 1
		if i == slice*k.per {
			add = 0
		}
		for e := range squares {
			k.multiply(sums[e*step:], v[e*stepV:], d[e*stepD:], tiles, rows, columns, add)
		}
	}
	k.store(sums, step, slice, left, in, top, out, workspace)
}

// multiply adds the products of one element of the tiles.
func (k *winogradWeight) multiply(sums, v, d []float32, tiles, rows, columns, add int) {
	t := k.kernel
	width, half := columns*t.lanes, t.lanes/2
	for j := 0; j < columns; j += 2 {
		n := min(2, columns-j)
		for i := range 2 * rows {
			a := &v[i/2*tiles*t.lanes+i%2*half]
			t.sums[n-1](tiles, a, &d[j*tiles*t.lanes], tiles*t.lanes, &sums[i*half*width+j*t.lanes], width, add)
		}
	}
}

// store transforms a chunk's sums back to weights of its slice.
func (k *winogradWeight) store(sums []float32, step, slice, left, in, top, out int, workspace []float32) {
	t := k.kernel
	w := k.dataW
	if k.slices > 1 {
		w = k.device.panel[slice*len(w):][:len(w)]
	}
	transposed, workspace := workspace[:9*t.lanes*t.lanes], workspace[9*t.lanes*t.lanes:]
	width := t.blocks(out) * t.lanes
	for o := 0; o < out; o += t.lanes {
		for c := 0; c < in; c += t.lanes {
			n := min(t.lanes, in-c)
			t.gradient(n, &transposed[0], &sums[c*width+o], step, width)
			t.deinterleaveRows(w[((top+o)*k.in+left+c)*9:], 9*k.in, min(t.lanes, out-o), 9*n, transposed, k.taps, workspace)
		}
	}
}

// add adds the weights of the slices, for a range of elements.
func (k *winogradWeight) add(from, to int) {
	w, n := k.dataW[from:to], len(k.dataW)
	copy(w, k.device.panel[from:to])
	for s := 1; s < k.slices; s++ {
		k.device.vectors.add(w, w, k.device.panel[s*n+from:s*n+to])
	}
}
