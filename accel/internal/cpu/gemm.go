package cpu

import "math"

// A matrix product c = a·b is computed in tiles of the kernel's size. b is
// packed into panels of nr columns, a into panels of mr rows, each a run of
// memory that the kernel reads from start to end. Blocks of depth kcMax keep a
// panel of b in the first-level cache, blocks of rows keep a's panels in the
// second (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", ACM TOMS 34(3), 2008).
const (
	kcMax = 512
	ncMax = 4096
)

// gemmKernel computes tiles of up to mr×nr elements from packed panels.
type gemmKernel struct {
	name   string
	mr, nr int
	lanes  int      // columns of one vector; nr is some vectors
	tiles  [][]tile // by rows and vectors, from one on
	// interleave packs 8 rows of a depth that is a multiple of 8, copyRows
	// packs from 8 columns on; nil for plain Go.
	interleave func(dst, src *float32, row, k, w int)
	copyRows   func(dst, src *float32, k, q, w, col int)
	// rowTiles are tiles of a right-hand side that is not packed, by rows and
	// vectors, and packWindows is packWindowsGeneric. Both are nil where
	// convolutions are faster with a shiftKernel.
	rowTiles    [][]rowTile
	packWindows func(dst, runs []float32, offsets []int, w int, list []window)
	// spin does spinFlops operations in registers alone, n times; see Peak.
	spin      func(n int)
	spinFlops int
}

// tile is c = a·b for panels of depth k, plus what the mode says and, where it
// is not nil, a row of biases. c has ldc elements between rows.
type tile func(k int, a, b, c *float32, ldc, mode int, bias *float32)

// rowTile is c (+)= a·b for a packed panel a and rows of b that lie at offsets, in
// elements, from left for the first vector and from right for the second.
type rowTile func(k int, a, left, right *float32, offsets *int, c *float32, ldc, mode int)

// Bits of a tile's mode: c += a·b, and max(c, 0) in the end.
const (
	addResult = 1
	clampZero = 2
)

// width is how wide a panel of n columns, at most nr, is packed.
func (t *gemmKernel) width(n int) int { return roundUp(n, t.lanes) }

// panels is how many panels of almost equal height n rows are cut into; the
// rows of panel p begin at n·p/panels.
func (t *gemmKernel) panels(n int) int { return (n + t.mr - 1) / t.mr }

const maxTile = 14 * 32

// matrix is a strided view: element (i, j) is data[i*row+j*col].
type matrix struct {
	data     []float32
	row, col int
}

// gemm is one product, m×k times k×n, with row-major c.
type gemm struct {
	kernel  gemmKernel
	m, n, k int
	a, b    matrix
	c       []float32
	bias    []float32 // added to each row if not nil
	relu    bool

	// the block that is being worked on
	packing bool
	jc, nc  int
	depth   depthBlock
	kc      int // of the longest block of depth
	columns int // of b that one chunk packs

	down, across int // chunks of rows, and of columns

	device *Device // whose shared memory takes the packed panels
}

// depthBlock is a part of the depth.
type depthBlock struct {
	from, n    int
	first, end bool
}

// at is the block of depth that begins at an element.
func (g *gemm) at(from int) depthBlock {
	n := min(g.kc, g.k-from)
	return depthBlock{from, n, from == 0, from+n == g.k}
}

func roundUp(n, m int) int { return (n + m - 1) / m * m }

// Sizes of a chunk. The panels of a that one chunk packs stay in the
// second-level cache beside those of b; below the least numbers of
// multiplications, and of elements to pack, a second thread does not pay.
const (
	maxPanels    = 12
	leastProduct = 1 << 17
	leastPacked  = 1 << 13
)

func newGEMM(d *Device, m, n, k int) *gemm {
	g := &gemm{device: d, kernel: d.kernel, m: m, n: n, k: k}
	blocks := max(1, (k+kcMax-1)/kcMax)
	g.kc = min(roundUp((k+blocks-1)/blocks, 8), k) // 8 is what packing likes
	g.nc = min(roundUp(n, g.kernel.nr), ncMax/g.kernel.nr*g.kernel.nr)
	g.columns = max(roundUp((n+15)/16, g.kernel.nr), roundUp(leastPacked/max(g.kc, 1), g.kernel.nr))
	g.divide(d.pool.size)
	d.reserve(g.nc*g.kc, (m+g.down-1)/g.down*g.kc+maxTile)
	return g
}

// divide cuts c into chunks, as many for each thread. The threads stand in a
// grid: those above each other pack the same columns of b together, those beside
// each other each pack the same rows of a, and what one has packed the others
// have to fetch from its cache. The result of a product does not depend on it.
func (g *gemm) divide(threads int) {
	panels := max(g.kernel.panels(g.m), 1)
	across := max((g.nc+g.kernel.nr-1)/g.kernel.nr, 1)
	g.down, g.across = (panels+maxPanels-1)/maxPanels, 1
	if g.m*g.n*g.k < leastProduct {
		return
	}
	least := math.MaxInt
	for a := 1; a <= min(threads, across); a++ {
		if threads%a > 0 {
			continue
		}
		down := min(roundUp((panels+maxPanels-1)/maxPanels, threads/a), panels)
		cost := a*g.m + threads/a*g.n
		if down*a < threads {
			cost += (g.m + g.n) * threads // idle ones
		}
		if cost < least {
			least, g.down, g.across = cost, down, a
		}
	}
}

// run computes c from a, b and the epilogue's operands.
func (g *gemm) run() {
	p := g.device.pool
	if g.k == 0 {
		clear(g.c)
		for i := range g.m {
			g.device.epilogue(g.c[i*g.n:][:g.n], g.bias, g.relu)
		}
		return
	}
	if g.apart() {
		p.run(g.across, g)
		return
	}
	nc := g.nc
	for g.jc = 0; g.jc < g.n; g.jc += nc {
		g.nc = min(nc, g.n-g.jc)
		for from := 0; from < g.k; from += g.kc {
			g.depth = g.at(from)
			g.packing = true
			p.run((g.nc+g.columns-1)/g.columns, g)
			g.packing = false
			p.run(g.down*g.across, g)
		}
	}
	g.jc, g.nc = 0, nc
}

// apart tells whether each chunk packs its own columns of b, through the whole
// depth, so that nobody waits for anybody in between.
func (g *gemm) apart() bool { return g.down == 1 && g.n <= g.nc }

func (g *gemm) work(chunk, worker int) {
	if g.packing {
		j := chunk * g.columns
		g.pack(g.depth, j, min(j+g.columns, g.nc))
		return
	}
	across, down := chunk/g.down, chunk%g.down
	panels := (min(g.nc, g.n) + g.kernel.nr - 1) / g.kernel.nr
	left := panels * across / g.across * g.kernel.nr
	right := min(panels*(across+1)/g.across*g.kernel.nr, g.nc, g.n)
	scratch := g.device.scratch[worker]
	if g.apart() {
		for from := 0; from < g.k; from += g.kc {
			g.pack(g.at(from), left, right)
			g.block(g.at(from), 0, g.m, left, right, scratch)
		}
		return
	}
	g.block(g.depth, g.m*down/g.down, g.m*(down+1)/g.down, left, right, scratch)
}

// pack writes the panels of some columns of a block.
func (g *gemm) pack(d depthBlock, left, right int) {
	src := g.b.data[d.from*g.b.row+(g.jc+left)*g.b.col:]
	g.kernel.packColumns(g.panel(d, left), src, g.b.row, g.b.col, right-left, d.n)
}

// panel is where the panels of a block begin, from a column on. Chunks that go
// through the depth apart each have room for their deepest block.
func (g *gemm) panel(d depthBlock, column int) []float32 {
	if g.apart() {
		return g.device.panel[column*g.kc:]
	}
	return g.device.panel[column*d.n:]
}

// block computes some rows and columns of a block.
func (g *gemm) block(d depthBlock, top, bottom, left, right int, packed []float32) {
	g.kernel.packRows(packed, g.a.data[top*g.a.row+d.from*g.a.col:], g.a.row, g.a.col, bottom-top, d.n)
	p := panelProduct{
		c: g.c[top*g.n+g.jc+left:], ldc: g.n, a: packed, depth: d.n, k: d.n, b: g.panel(d, left),
		rows: bottom - top, cols: right - left, edge: packed[len(packed)-maxTile:],
	}
	if !d.first {
		p.mode |= addResult
	}
	if d.end && g.relu {
		p.mode |= clampZero
	}
	if d.end && g.bias != nil {
		p.bias = g.bias[g.jc+left:]
	}
	g.device.multiply(p)
}
