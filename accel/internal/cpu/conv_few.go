package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

// Convolutions with few results per output channel and many weights, such as the last ones of
// a network for a single image. Each weight is used for a few positions only, so the time is that of
// reading and packing the weights, and columns of positions would not fill vectors. So the product is
// transposed: the positions are the rows, which fit the tiles well, and the output channels
// the columns. A panel of the weights is packed just before it is used, while it is in the cache.

// Limits of the algorithm.
const (
	fewResults = 256     // positions of all images
	fewWeights = 1 << 13 // weights, for less of which it does not pay
)

// fewConv is a convolution whose matmul has the positions of all images as rows.
type fewConv struct {
	planes
	convOperands
	device  *Device
	depth   int     // C·KH·KW
	rows    columns // the positions, split into the panels of a matmul's left-hand side
	tops    []int   // first position of each panel, and the number of positions
	whole   int     // length of a run
	offsets []int   // of the run of each weight
}

// suitsFew reports whether there are few positions for the weights.
func suitsFew(d *Device, g *planes) bool {
	return g.groups == 1 && g.n*g.oh*g.ow <= fewResults && g.o >= d.kernel.nr && g.o*g.c*g.kh*g.kw >= fewWeights
}

func newFewConv(d *Device, s ir.Step, g *planes) *fewConv {
	k := &fewConv{planes: *g, device: d, convOperands: newConvOperands(s), depth: g.c * g.kh * g.kw}
	_, k.whole = k.span(k.n, windowLen)
	for c := range k.c {
		for t := range k.shift {
			k.offsets = append(k.offsets, k.runOffset(c, t, k.whole))
		}
	}
	k.rows = columns{positions: positions{0, k.oh, k.ow, k.pitch, k.image}, n: k.n * k.oh * k.ow}
	panels := d.kernel.panels(k.rows.n)
	for p := range panels + 1 {
		k.tops = append(k.tops, panelTop(k.rows.n, panels, p))
	}
	for p := range panels {
		k.rows.panels = append(k.rows.panels, k.rows.windows(nil, k.tops[p], k.tops[p+1]-k.tops[p]))
	}
	d.reserve(k.packed()+k.c*k.phases*k.whole+windowLen, d.kernel.nr*(k.depth+k.rows.n)+maxTile)
	return k
}

// spacing is the depth of a panel in memory, where packing may overrun the panel's end.
func (k *fewConv) spacing() int { return k.depth + 2*windowLen }

// packed returns the number of elements of all panels of positions.
func (k *fewConv) packed() int { return k.rows.n * k.spacing() }

func (k *fewConv) run(p *program) error {
	k.bind(p)
	pool, kernel := k.device.pool, &k.device.kernel
	panels, runs := k.device.panel[:k.packed()], k.device.panel[k.packed():]
	spreads := min(k.c, 4*pool.size) // chunks of channels
	pool.each(spreads, func(chunk, _ int) {
		from, to := k.c*chunk/spreads, k.c*(chunk+1)/spreads
		k.spread(k.device, runs[from*k.phases*k.whole:], k.dataX, 0, k.n, from, to, k.whole)
	})
	pool.each(len(k.rows.panels), func(panel, _ int) {
		top := k.tops[panel]
		kernel.packWindows(panels[top*k.spacing():], runs, k.offsets, k.tops[panel+1]-top, k.rows.panels[panel])
	})
	pool.split(k.o, kernel.nr, func(from, _, worker int) { k.channels(from, panels, k.device.scratch[worker]) })
	k.release()
	return nil
}

// channels computes a panel of output channels.
func (k *fewConv) channels(from int, panels, scratch []float32) {
	t := &k.device.kernel
	n := min(t.nr, k.o-from)
	weights, scratch := scratch[:t.nr*k.depth], scratch[t.nr*k.depth:]
	results, edge := scratch[:k.rows.n*n], scratch[k.rows.n*t.nr:][:maxTile]
	t.packColumns(weights, k.dataW[from*k.depth:], 1, k.depth, n, k.depth)
	width := t.width(n)
	for at := 0; at < k.depth; at += kcMax {
		part := panelProduct{c: results, ldc: n, a: panels, depth: k.spacing(), from: at, k: min(kcMax, k.depth-at),
			b: weights[at*width:], rows: k.rows.n, cols: n, edge: edge}
		if at > 0 {
			part.mode |= addResult
		}
		if at+part.k == k.depth {
			if k.low == 0 {
				part.mode |= clampZero
			}
			if k.dataB != nil {
				part.bias = k.dataB[from:]
			}
		}
		k.device.multiply(part)
	}
	area := k.oh * k.ow
	for image := range k.n {
		t.transpose(k.dataY[(image*k.o+from)*area:][:n*area], results[image*area*n:], area, n)
	}
}

// transpose writes a matrix of rows×cols contiguous elements as its transpose.
func (t *gemmKernel) transpose(dst, src []float32, rows, cols int) {
	t.packPanel(dst, src, cols, 1, rows, cols, rows)
}
