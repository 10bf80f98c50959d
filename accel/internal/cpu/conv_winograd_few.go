package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

// Winograd convolutions with few tiles and many weights, such as those in the last layers of a network for a single image. Transforming
// the weights takes most of the time, and transformed ones take four times their memory. So they are transformed just before they are
// multiplied, for a panel of output channels and some input channels, and stay in the L2 cache.

// fewDepth is the number of input channels whose weights are transformed at once. Sums depend on it, so it is the same for all CPUs.
const fewDepth = 64

// winogradFewConv is a winogradConv whose images are one part. A chunk computes a panel of output channels.
type winogradFewConv struct {
	*winogradConv
	tiles, apart, weights int // number of tiles; distances of the matrices of transformed images and of weights
}

func newWinogradFewConv(k *winogradConv) *winogradFewConv {
	t := k.kernel
	k.group = 1
	f := &winogradFewConv{winogradConv: k, tiles: k.most(), weights: fewDepth*2*t.lanes + t.lanes}
	f.apart = k.between(t.blocks(k.in), f.tiles)
	k.device.reserve(squares*f.apart, squares*f.weights+k.results()+k.source.spread()+k.lines()+9*t.lanes*t.lanes)
	return f
}

func (k *winogradFewConv) run(p *program) error {
	k.bind(p)
	p.device.pool.each(k.kernel.blocks(k.in), func(block, worker int) {
		k.source.transform(k.device.panel[block*k.tiles*k.kernel.lanes:], k.apart, k.dataX, k.part(0), block, 1, k.device.scratch[worker])
	})
	p.device.pool.run(k.panels, k)
	k.release()
	return nil
}

func (k *winogradFewConv) work(chunk, worker int) {
	t, part, scratch := k.kernel, k.part(0), k.device.scratch[worker]
	weights, rest := scratch[:squares*k.weights], scratch[squares*k.weights:]
	m, workspace := rest[:k.results()], rest[k.results():]
	blocks, deep := t.blocks(k.in), fewDepth/t.lanes
	for from := 0; from < blocks; from += deep {
		n := min(deep, blocks-from)
		for b := range n {
			k.pack(weights[b*t.lanes*k.width(chunk)*t.lanes:], k.weights, chunk, from+b, workspace)
		}
		k.multiply(m, k.device.panel[from*k.tiles*t.lanes:], k.apart, weights, k.weights, k.tiles, chunk, chunk+1, n, min(from, 1))
	}
	k.store(m, k.tiles, part, chunk, chunk+1, workspace)
}

// fewTransform is the time to transform a weight, in multiplications of a tile.
const fewTransform = 3

// suitsWinogradFew reports whether winogradFewConv suits a convolution.
func suitsWinogradFew(op ir.Conv2D, g *planes) bool {
	tiles := g.winogradTiles()
	return tiles <= winogradTiles && 5*squares*(tiles+fewTransform) < 4*g.multiplied() && allowsWinograd(op, g)
}
