package cpu

import "math"

// A matrix multiplication c = a·b is computed in tiles of the kernel's size. The depth is
// blocked by kcMax to keep the operands of a tile in the L1 cache, the rows are blocked to
// keep those of a in the L2 cache (Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication", ACM TOMS 34(3), 2008).
//
// Tiles read both operands in place if possible: any a that is contiguous in one dimension,
// and a b with contiguous rows. Otherwise, and if the cache could not hold them, the
// operands are packed: b into panels of nr columns, a into panels of mr rows, each
// contiguous in the order in which the tile reads it.
const (
	kcMax = 512
	ncMax = 4096
)

// gemmKernel computes tiles of up to mr×nr elements from packed panels.
type gemmKernel struct {
	name   string
	mr, nr int
	lanes  int      // elements per vector; nr is a multiple
	tiles  [][]tile // [rows-1][vectors-1]
	// interleave packs 8 rows of a depth that is a multiple of 8; copyRows packs at least 8
	// columns; nil for plain Go.
	interleave func(dst, src *float32, row, k, w int)
	copyRows   func(dst, src *float32, k, q, w, col int)
	// rowTiles are tiles of an unpacked right-hand side, [rows-1][vectors-1]; nil if
	// convolutions are faster with a shiftKernel. packWindows is packWindowsGeneric.
	rowTiles    [][]rowTile
	packWindows func(dst, runs []float32, offsets []int, w int, list []window)
	// spin runs spinFlops operations in registers only, n times; see Peak.
	spin      func(n int)
	spinFlops int
}

// tile computes c = a·b with depth k; mode selects accumulation and ReLU, bias is a row of
// biases or nil. Rows of a are row elements apart, its columns step elements; rows of b are
// next elements apart, rows of c ldc elements. ahead is the memory of a to prefetch, in
// lines stride elements apart.
type tile func(k int, a *float32, row, step int, b *float32, next int, c *float32, ldc, mode int, bias, ahead *float32, stride int)

// rowTile computes c (+)= a·b for a packed panel a. The rows of b are at offsets, in
// elements, from left for the first vector and from right for the second.
type rowTile func(k int, a, left, right *float32, offsets *int, c *float32, ldc, mode int)

// Bits of a tile's mode: accumulate, c += a·b, and apply ReLU, max(c, 0), at the end.
const (
	addResult = 1
	clampZero = 2
)

// width returns the packed width of a panel of n columns, at most nr.
func (t *gemmKernel) width(n int) int { return roundUp(n, t.lanes) }

// panels returns the number of panels of almost equal height for n rows. The rows of panel
// p begin at n·p/panels.
func (t *gemmKernel) panels(n int) int { return (n + t.mr - 1) / t.mr }

const maxTile = 14 * 32

// matrix is a strided view: element (i, j) is data[i*row+j*col].
type matrix struct {
	data     []float32
	row, col int
}

// gemm is one matrix multiplication, m×k times k×n, with row-major c.
type gemm struct {
	kernel  gemmKernel
	m, n, k int
	a, b    matrix
	c       []float32
	bias    []float32 // added to each row if not nil
	relu    bool

	// The block in progress.
	packing bool
	jc, nc  int
	depth   depthBlock
	kc      int // size of the longest block of the depth
	columns int // columns of b that one chunk packs

	packsA, packsB bool // else they are read in place
	parts          int  // parts of the depth that are computed separately and added (split-K)
	down, across   int  // number of chunks of rows and of columns
	adding         bool // in the pass that adds the parts
	dots, sums     bool // the result is computed as dot products, or as sums of rows of b

	device *Device // its shared memory holds the packed panels
}

// depthBlock is a block of the depth.
type depthBlock struct {
	from, n    int
	first, end bool
}

// at returns the block of the depth that begins at an element.
func (g *gemm) at(from int) depthBlock {
	n := min(g.kc, g.k-from)
	return depthBlock{from, n, from == 0, from+n == g.k}
}

func roundUp(n, m int) int { return (n + m - 1) / m * m }

// Chunk sizes. The panels of a that a chunk packs stay in the L2 cache with those of b.
// Below the minimum numbers of multiplications and of elements to pack, a second thread
// does not pay off.
const (
	maxPanels    = 12
	leastProduct = 1 << 17
	leastPacked  = 1 << 13
)

// newGEMM returns a matrix multiplication whose operands are bound later.
func newGEMM(d *Device, m, n, k int, a, b matrix) *gemm {
	g := &gemm{device: d, kernel: d.kernel, m: m, n: n, k: k, a: a, b: b}
	g.packsA = !(a.col == 1 && spread(a.row) || a.row == 1 && spread(a.col))
	g.packsB = b.col != 1 || !spread(b.row) || n%g.kernel.lanes != 0 || min(k, kcMax)*n > mostInPlace
	g.stream()
	longest := kcMax
	if g.readsInPlace() {
		longest = streams
	} else if !g.packsA && !g.packsB && a.col != 1 {
		// Reading each row of a touches a separate cache line for a few elements, and the
		// next block of the depth is prefetched while one is computed.
		longest = kcMax / 8
	}
	blocks := max(1, (k+longest-1)/longest)
	g.kc = min(roundUp((k+blocks-1)/blocks, 8), k) // packing works on multiples of 8
	g.nc = min(roundUp(n, g.kernel.nr), ncMax/g.kernel.nr*g.kernel.nr)
	g.columns = max(roundUp((n+15)/16, g.kernel.nr), roundUp(leastPacked/max(g.kc, 1), g.kernel.nr))
	panel := 0
	g.parts = 1
	switch {
	case g.packsB && !g.dots:
		panel = g.nc * g.kc
	case longest != streams && !g.dots && !g.sums && k >= 2*leastPart && partCost*m*n <= (m+n)*k:
		g.parts = 2
		panel = g.parts * m * n
	}
	g.divide(d.pool.size)
	d.reserve(panel, (m+g.down-1)/g.down*g.kc+maxTile)
	return g
}

// The gradient of a weight is a small result of two tall matrices; each thread has computed
// some of their rows. Two parts of the depth, each at least this deep, let each thread use
// its own rows. partCost is the cost of writing and adding an element of a part, in
// elements of the operands fetched from another thread's cache.
const (
	leastPart = 512
	partCost  = 8
)

// mostInPlace is the maximum number of elements of a block of b that tiles read in place: a
// larger one must be read in memory order.
const mostInPlace = 1 << 18

// spread reports whether rows with this distance, in elements, use all cache sets:
// multiples of a page share a few sets.
func spread(row int) bool { return row*4%4096 != 0 }

// divide splits c into chunks, the same number for each thread. The threads form a grid:
// threads in a column read, or pack together, the same columns of b; threads in a row the
// same rows of a. If nothing is packed, each thread computes whole rows, as do the steps
// after it. The result does not depend on the division.
func (g *gemm) divide(threads int) {
	panels := max(g.kernel.panels(g.m), 1)
	across := max((g.nc+g.kernel.nr-1)/g.kernel.nr, 1)
	g.down, g.across = (panels+maxPanels-1)/maxPanels, 1
	if g.m*g.n*g.k < leastProduct {
		return
	}
	if g.parts > 1 { // two chunks per thread, so that threads can help each other
		g.down = min(max(g.down, roundUp(2*threads, g.parts)/g.parts), panels)
		return
	}
	least := math.MaxInt
	for a := 1; a <= min(threads, across); a++ {
		if threads%a > 0 {
			continue
		}
		down := min(roundUp((panels+maxPanels-1)/maxPanels, threads/a), panels)
		cost := a*g.m + threads/a*g.n
		if !g.packsB && (g.m+g.n)*g.k <= mostInPlace {
			cost = a // everything is in the thread's own cache
		}
		if down*a < threads {
			cost += (g.m + g.n) * threads // penalty for idle threads
		}
		if cost < least || cost == least && down == 1 { // equal cost: see apart
			least, g.down, g.across = cost, down, a
		}
	}
}

// run computes c from a, b and the epilogue's operands.
func (g *gemm) run() {
	p := g.device.pool
	if g.m == 0 || g.n == 0 {
		return
	}
	if g.k == 0 {
		clear(g.c)
		for i := range g.m {
			g.device.epilogue(g.c[i*g.n:][:g.n], g.bias, g.relu)
		}
		return
	}
	if g.dots {
		p.run((g.n+g.dotChunk()-1)/g.dotChunk(), g)
		return
	}
	if g.sums {
		p.run(g.sumChunks(), g)
		return
	}
	if g.parts > 1 {
		p.run(g.parts*g.down, g)
		g.adding = true
		p.run(g.down, g)
		g.adding = false
		return
	}
	nc := g.nc
	for g.jc = 0; g.jc < g.n; g.jc += nc {
		g.nc = min(nc, g.n-g.jc)
		if g.apart() {
			p.run(g.down*g.across, g)
			continue
		}
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

// apart reports whether each chunk runs through the whole depth, with columns of b that it
// packs itself or that are not packed, so that chunks never wait for each other.
func (g *gemm) apart() bool { return !g.packsB || g.down == 1 }

func (g *gemm) work(chunk, worker int) {
	if g.dots {
		g.dot(chunk)
		return
	}
	if g.sums {
		g.sum(chunk)
		return
	}
	if g.packing {
		j := chunk * g.columns
		g.pack(g.depth, j, min(j+g.columns, g.nc))
		return
	}
	if g.adding {
		g.add(g.m*chunk/g.down, g.m*(chunk+1)/g.down)
		return
	}
	if g.parts > 1 {
		g.part(chunk/g.down, chunk%g.down, g.device.scratch[worker])
		return
	}
	across, down := chunk/g.down, chunk%g.down
	panels := (g.nc + g.kernel.nr - 1) / g.kernel.nr
	left := panels * across / g.across * g.kernel.nr
	right := min(panels*(across+1)/g.across*g.kernel.nr, g.nc)
	top, bottom := g.m*down/g.down, g.m*(down+1)/g.down
	scratch := g.device.scratch[worker]
	if !g.apart() {
		g.block(g.c, g.depth, top, bottom, left, right, scratch)
		return
	}
	for from := 0; from < g.k; from += g.kc {
		if g.packsB {
			g.pack(g.at(from), left, right)
		}
		g.block(g.c, g.at(from), top, bottom, left, right, scratch)
	}
}

// part computes some rows of one part of the depth, which is a number of whole blocks.
func (g *gemm) part(part, down int, scratch []float32) {
	blocks := (g.k + g.kc - 1) / g.kc
	first, end := blocks*part/g.parts, blocks*(part+1)/g.parts
	for b := first; b < end; b++ {
		d := g.at(b * g.kc)
		d.first, d.end = b == first, false
		g.block(g.device.panel[part*g.m*g.n:], d, g.m*down/g.down, g.m*(down+1)/g.down, 0, g.n, scratch)
	}
}

// add adds the parts of some rows.
func (g *gemm) add(top, bottom int) {
	all := g.device.panel
	for i := top; i < bottom; i++ {
		row := g.c[i*g.n:][:g.n]
		from := all[i*g.n:][:g.n]
		for part := 1; part < g.parts; part++ {
			g.device.vectors.add(row, from, all[(part*g.m+i)*g.n:][:g.n])
			from = row
		}
		g.device.epilogue(row, g.bias, g.relu)
	}
}

// pack writes the panels of some columns of a block.
func (g *gemm) pack(d depthBlock, left, right int) {
	src := g.b.data[d.from*g.b.row+(g.jc+left)*g.b.col:]
	g.kernel.packColumns(g.panel(d, left), src, g.b.row, g.b.col, right-left, d.n)
}

// panel returns the panels of a block, starting at a column. If chunks run apart, each has
// memory for its deepest block.
func (g *gemm) panel(d depthBlock, column int) []float32 {
	if g.apart() {
		return g.device.panel[column*g.kc:]
	}
	return g.device.panel[column*d.n:]
}

// block computes some rows and columns of a block.
func (g *gemm) block(c []float32, d depthBlock, top, bottom, left, right int, packed []float32) {
	p := panelProduct{
		c: c[top*g.n+g.jc+left:], ldc: g.n, a: g.a.data[top*g.a.row+d.from*g.a.col:], row: g.a.row, step: g.a.col, k: d.n,
		rows: bottom - top, cols: right - left, more: d.from+d.n < g.k, edge: packed[len(packed)-maxTile:],
	}
	if g.packsA {
		g.kernel.packRows(packed, p.a, p.row, p.step, p.rows, d.n)
		p.a, p.depth, p.row, p.step = packed, d.n, 0, 0
	}
	if g.packsB {
		p.b = g.panel(d, left)
	} else {
		p.b, p.next = g.b.data[d.from*g.b.row+g.jc+left:], g.b.row
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
