package cpu

import (
	"math"
	"runtime"
	"sync/atomic"
)

// A matrix multiplication c = a·b is computed in tiles of the kernel's size. The depth is
// blocked by kcMax or kcDeep, so that a tile's operands come from the L1 and L2 cache, the rows are blocked to
// keep those of a in the L2 cache (Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication", ACM TOMS 34(3), 2008).
//
// Tiles read packed panels, contiguous in the order in which the tile reads them: of b with
// nr columns, of a with mr rows. They also read operands in place, which saves the time to
// pack them where the caches keep what a tile reads again: see place.
//
// The sums do not depend on the caches: the depth of a block is the same for all CPUs with the same vectors. A block adds to a result that
// may have left the caches, so blocks of large ones are deep, unless that makes it slower to pack: of a column-major a, each row of the
// depth has as many elements as rows fit into the L2 cache, and few rows of the result do not repay packing a b that would be read in
// place.
const (
	kcMax     = 384
	kcDeep    = 1024
	leastDeep = 1 << 16 // elements of a result with deep blocks
	ncMax     = 4096
)

// gemmKernel computes tiles of up to mr×nr elements from packed panels.
type gemmKernel struct {
	name   string
	mr, nr int
	lanes  int      // elements per vector; nr is a multiple
	tiles  [][]tile // [rows-1][vectors-1]
	// interleave packs some rows, a number that interleaved is, of a depth that is a multiple of 8 into a panel of any width, and
	// interleaveFew, by the number of rows, into a panel of that width; copyRows packs at least copied columns, copyFew 4 to 8.
	// They are nil for plain Go.
	interleave          func(dst, src *float32, row, k, w int)
	interleaveFew       []func(dst, src *float32, row, k int)
	copyRows, copyFew   func(dst, src *float32, k, q, w, col int)
	interleaved, copied int
	// copyPanels packs n contiguous rows, elements of a row-major matrix whose rows are col apart, into panels of almost equal width
	// and depth k, of which it returns how much it has done: none if it has no code for panels of that width. It is nil for plain Go.
	copyPanels func(dst, src []float32, col, n, k, panels int) int
	// everySecond copies every second element of rows of at least 8 results; nil for plain Go.
	everySecond func(dst, src *float32, rows, n, to, from int)
	// packsRows is whether tiles are much slower if they read a row-major a in place.
	packsRows bool
	// storeEdge writes some columns of a tile that is wider, and applies the epilogue; nil for plain Go.
	storeEdge func(rows, n int, c *float32, ldc int, edge *float32, width, mode int, bias *float32)
	// rowTiles are tiles of an unpacked right-hand side, [rows-1][vectors-1]; nil if
	// convolutions are faster with a shiftKernel. packWindows is packWindowsGeneric, and packsFast whether it is faster.
	rowTiles    [][]rowTile
	packsFast   bool
	packWindows func(dst, runs []float32, offsets []int, w int, list []window)
	// spin runs spinFlops operations in registers only, n times; see Peak.
	spin      func(n int)
	spinFlops int
}

// tile computes c = a·b with depth k; mode selects accumulation and ReLU, bias is a row of
// biases or nil. Rows of a are row elements apart, its columns step elements; rows of b are
// next elements apart, rows of c ldc elements. ahead is the memory of a to prefetch, in
// lines stride elements apart. It computes count such tiles, at least one, one after the other: after each, a, c and ahead advance by
// nextA, nextC and nextAhead elements.
type tile func(k int, a *float32, row, step int, b *float32, next int, c *float32, ldc, mode int, bias, ahead *float32, stride, count, nextA, nextC, nextAhead int)

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

// panels returns the number of panels of almost equal height for n rows.
func (t *gemmKernel) panels(n int) int { return (n + t.mr - 1) / t.mr }

// panelTop returns the first row of a panel of n rows. The first panels have one more than the others, so that many tiles below each
// other have the same height.
func panelTop(n, panels, panel int) int { return n/panels*panel + min(panel, n%panels) }

const maxTile = 14 * 32

// matrix is a strided view: element (i, j) is data[i*row+j*col].
type matrix struct {
	data     []float32
	row, col int
}

// gemm is one matrix multiplication, m×k times k×n, with row-major c.
type gemm struct {
	kernel   gemmKernel
	m, n, k  int
	a, b     matrix
	c        []float32
	bias     []float32 // added to each row if not nil
	relu     bool
	slope    elementwise // multiplies c with the slope of an activation at the elements of argument; nil for none
	argument []float32

	// The block in progress.
	jc, nc int
	depth  depthBlock
	kc     int             // size of the longest block of the depth
	packed []atomic.Uint32 // of each panel of b, how far packing it is

	packsA, packsB bool // else they are read in place
	shallow        bool // a column-major a is read in place, in blocks of little depth
	parts          int  // parts of the depth that are computed separately and added (split-K)
	down, across   int  // number of chunks of rows and of columns
	bounded        bool // the tiles of a chunk should not end at rows of another thread
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

// leastProduct is the number of multiplications below which a second thread does not pay off.
const leastProduct = 1 << 17

// leastShared is the number of multiplications from which threads that have columns of their own divide them into chunks of rows, so
// that they can help each other. In a smaller product, each thread runs through the whole depth without waiting: see apart.
const leastShared = 1 << 26

// newGEMM returns a matrix multiplication whose operands are bound later.
func newGEMM(d *Device, m, n, k int, a, b matrix) *gemm {
	g := &gemm{device: d, kernel: d.kernel, m: m, n: n, k: k, a: a, b: b}
	longest := g.place()
	g.stream()
	if g.readsInPlace() {
		longest = streams
	} else if g.shallow {
		// Reading each row of a touches a separate cache line for a few elements, and the
		// next block of the depth is prefetched while one is computed.
		longest = 64
	}
	g.nc = min(roundUp(n, g.kernel.nr), ncMax/g.kernel.nr*g.kernel.nr)
	g.parts = 1
	if longest != streams && !g.dots && !g.sums && n <= g.nc && k >= 2*leastPart && partCost*m*n <= (m+n)*k {
		g.parts = 2
	}
	g.kc = depthOfBlocks(k, longest, g.parts)
	panel, scratch := 0, maxTile
	switch {
	case g.parts > 1:
		panel = (g.parts - 1) * m * n
		if g.packsB {
			scratch += g.nc * g.kc
		}
	case g.packsB && !g.dots:
		panel = g.nc * g.kc
		g.packed = make([]atomic.Uint32, g.nc/g.kernel.nr)
	}
	g.divide(d.pool.size)
	if g.parts == 1 {
		scratch += g.panelsTaken()
	}
	if g.packsA {
		scratch += min(m, g.kernel.panelsAtOnce(g.kc)*g.kernel.mr) * g.kc
	}
	d.reserve(panel, scratch)
	return g
}

// depthOfBlocks returns the depth of blocks of almost equal depth, at most longest; their number is a multiple of parts.
func depthOfBlocks(k, longest, parts int) int {
	blocks := max(roundUp((k+longest-1)/longest, parts), 1)
	return min(roundUp((k+blocks-1)/blocks, 8), k) // packing works on multiples of 8
}

// place decides which operands are packed, and returns the depth of the longest block. Packing takes about as long as lanes/2 rows or
// columns of the product, and a tile reads packed panels at the full speed of the CPU.
func (g *gemm) place() (longest int) {
	a, b, t := g.a, g.b, &g.kernel
	plain := b.col == 1 && g.n%t.lanes == 0
	longest = kcMax
	if a.col == 1 && g.m*g.n >= leastDeep && (!plain || g.m >= 16*t.lanes) {
		longest = kcDeep
	}
	kc := depthOfBlocks(g.k, longest, 1)
	// A panel of b is read again from the L2 cache for each panel of a.
	g.packsB = !plain || g.m >= 48*t.lanes ||
		kc*g.n*4 > dataCaches.L2.Size/2 || dataCaches.L2.share(kc, t.nr*4, b.row*4) > 0.25
	// The L1 cache must keep the lines of a tile's rows while it reads them, and the L2 cache the rows of all panels.
	rows := min(g.m, t.panelsAtOnce(kc)*t.mr)
	g.packsA = t.packsRows || a.col != 1 || dataCaches.L1.share(min(g.m, t.mr), 0, a.row*4) > 0.75 || dataCaches.L2.share(rows, kc*4, a.row*4) > 0.5
	if a.row != 1 || a.col == 1 || a.col*4%4096 == 0 {
		return longest
	}
	// A column-major a takes another line for each row of the depth. Of few columns of the result, packing it would be a large part.
	switch {
	case g.n <= t.nr:
		g.packsA = false
	case g.n < 16*t.lanes && g.m < 48*t.lanes && plain:
		g.packsA, g.packsB, g.shallow = false, false, true
	}
	return longest
}

// panelsAtOnce returns the number of panels of a of some depth that are multiplied by each panel of b: as many as fill a quarter of the
// L2 cache.
func (t *gemmKernel) panelsAtOnce(depth int) int {
	return max(min(dataCaches.L2.Size/4/(t.mr*max(depth, 1)*4), mostRows/t.mr), 4)
}

// mostRows limits the rows of panelsAtOnce: each row of the result may be on another page, and the first level of a CPU's TLB has 64 to
// 96 entries. mostPanels are their panels, of at least four rows.
const (
	mostRows   = 96
	mostPanels = mostRows / 4
)

// The gradient of a weight is a small result of two tall matrices; each thread has computed
// some of their rows. Two parts of the depth, each at least this deep, let each thread use
// its own rows. partCost is the cost of writing and adding an element of a part, in
// elements of the operands fetched from another thread's cache.
const (
	leastPart = 512
	partCost  = 8
)

// divide splits c into chunks, the same number for each thread. The threads form a grid:
// threads in a column read, or pack together, the same columns of b; threads in a row the
// same rows of a. If nothing is packed, each thread computes whole rows, as do the steps
// after it. The result does not depend on the division.
func (g *gemm) divide(threads int) {
	panels := max(g.kernel.panels(g.m), 1)
	across := max((g.nc+g.kernel.nr-1)/g.kernel.nr, 1)
	g.down, g.across = 1, 1
	if g.m*g.n*g.k < leastProduct || threads == 1 {
		return
	}
	if g.parts > 1 { // two chunks per thread, so that threads can help each other
		// Each packs what it needs of b, and of a, so chunks of columns are better if b is wider than a is high.
		chunks := roundUp(2*threads, g.parts) / g.parts
		if g.packsB && g.n > g.m {
			g.across = min(chunks, across)
		} else {
			g.down = min(chunks, panels)
		}
		return
	}
	maxPanels := g.kernel.panelsAtOnce(g.kc)
	least := math.MaxInt
	for a := 1; a <= min(threads, across); a++ {
		if threads%a > 0 {
			continue
		}
		down := min(roundUp((panels+maxPanels-1)/maxPanels, threads/a), panels)
		if a == threads && g.m*g.n*g.k < leastShared {
			down = 1
		}
		cost := a*g.m + threads/a*g.n
		if !g.packsB && (g.m+g.n)*g.k*4 <= dataCaches.L2.Size/2 {
			cost = a // everything is in the thread's own cache
		}
		if down*a < threads {
			cost += (g.m + g.n) * threads // penalty for idle threads
		}
		if cost < least || cost == least && g.packsB { // with columns of its own, a thread reads no panels that another one has packed
			least, g.down, g.across = cost, down, a
		}
	}
	// A CPU that sees rows of a result at a constant distance also fetches those behind the last one, which another thread is
	// writing: 4 µs for rows of 1 KB. From other caches or memory, that prefetching is worth more.
	g.bounded = g.down > 1 && g.m*g.n*4 <= dataCaches.L2.Size/2
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
		g.multiplySlope(0, g.m, 0, g.n)
		return
	}
	if g.suitsLibrary() {
		g.device.library.sgemm(g.c, g.m, g.n, g.k, g.a, g.b)
		g.finish(0, g.n)
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
		p.run(g.parts*g.down*g.across, g)
		g.adding = true
		p.run(g.down*g.across, g)
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
			for i := range g.packed {
				g.packed[i].Store(0)
			}
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
	if g.adding {
		chunks := g.down * g.across
		g.add(g.m*chunk/chunks, g.m*(chunk+1)/chunks)
		return
	}
	part := chunk / (g.down * g.across) // 0 if the depth is not split
	across, down := chunk/g.down%g.across, chunk%g.down
	panels := (g.nc + g.kernel.nr - 1) / g.kernel.nr
	first, end := panels*across/g.across, panels*(across+1)/g.across
	left, right := first*g.kernel.nr, min(end*g.kernel.nr, g.n-g.jc)
	top, bottom := g.top(down), g.top(down+1)
	scratch := g.device.scratch[worker]
	if g.parts > 1 {
		g.part(part, top, bottom, left, right, scratch)
		return
	}
	if !g.apart() {
		panel, taken := g.panel(g.depth, left), g.taken(first, across, worker, bottom-top)
		if taken {
			panel, scratch = scratch[:g.panelsTaken()], scratch[g.panelsTaken():]
		} else {
			g.packTogether(first, end, down)
		}
		g.block(g.c, g.depth, top, bottom, left, right, scratch, panel, taken)
		return
	}
	for from := 0; from < g.k; from += g.kc {
		d := g.at(from)
		g.block(g.c, d, top, bottom, left, right, scratch, g.panel(d, left), g.packsB)
	}
}

// taken reports whether a worker that has columns of its own has taken a chunk of those of another one, which has packed them. It then
// packs them again, for itself: if both caches had the panels, the other worker would be slower to write them in the next run, and this
// one would take a chunk from it again.
func (g *gemm) taken(first, across, worker, rows int) bool {
	return g.panelsTaken() > 0 && worker != across && g.groups(rows) == 1 && g.packed[first].Load() == packed
}

// panelsTaken is the number of elements of the panels that a worker packs for itself at once, 0 if it never does.
func (g *gemm) panelsTaken() int {
	if g.apart() || g.across != g.device.pool.size {
		return 0
	}
	return g.panelsPacked() * g.kernel.nr * g.kc
}

// top returns the first row of the chunks with this number: they have whole panels.
func (g *gemm) top(down int) int {
	panels := g.kernel.panels(g.m)
	return g.m * (panels * down / g.down) / panels
}

// How far packing a panel is, besides 0 for not at all.
const (
	begun  = 1
	packed = 2
)

// packRounds is how often a worker pauses for a panel that another one packs before it lets other goroutines run.
const packRounds = 4000

// packTogether packs the panels that all chunks of the same columns need, together with those of them that run at the same time,
// and returns when all are packed. A worker never waits for one that has not begun.
func (g *gemm) packTogether(first, end, down int) {
	some := g.panelsPacked()
	n := (end - first + some - 1) / some
	for i := range n {
		p := first + (i+n*down/g.down)%n*some // each begins at another one
		if g.packed[p].Load() == 0 && g.packed[p].CompareAndSwap(0, begun) {
			left := p * g.kernel.nr
			g.pack(g.panel(g.depth, left), g.depth, left, min(min(p+some, end)*g.kernel.nr, g.nc))
			g.packed[p].Store(packed)
		}
	}
	for p := first; p < end; p += some {
		for i := 0; g.packed[p].Load() != packed; i++ {
			pause(1)
			if i > packRounds { // the system does not run the worker that packs it
				runtime.Gosched()
			}
		}
	}
}

// part computes some rows and columns of one part of the depth, which is a number of whole blocks.
func (g *gemm) part(part, top, bottom, left, right int, scratch []float32) {
	c, blocks := g.c, (g.k+g.kc-1)/g.kc
	if part > 0 {
		c = g.device.panel[(part-1)*g.m*g.n:]
	}
	first, end := blocks*part/g.parts, blocks*(part+1)/g.parts
	for b := first; b < end; b++ {
		d := g.at(b * g.kc)
		d.first, d.end = b == first, false
		packed, rest := scratch, scratch
		if g.packsB {
			packed, rest = scratch[:g.nc*g.kc], scratch[g.nc*g.kc:]
		}
		g.block(c, d, top, bottom, left, right, rest, packed, g.packsB)
	}
}

// add adds the parts of some rows to the first one, which is in the result.
func (g *gemm) add(top, bottom int) {
	for i := top; i < bottom; i++ {
		row := g.c[i*g.n:][:g.n]
		for part := range g.parts - 1 {
			g.device.vectors.add(row, row, g.device.panel[(part*g.m+i)*g.n:][:g.n])
		}
		g.device.epilogue(row, g.bias, g.relu)
	}
	g.multiplySlope(top, bottom, 0, g.n)
}

// multiplySlope multiplies some columns of rows that are complete with the slope of an activation.
func (g *gemm) multiplySlope(top, bottom, left, right int) {
	if g.slope == nil {
		return
	}
	for i := top; i < bottom; i++ {
		row := g.c[i*g.n+left : i*g.n+right]
		g.slope(g.device.vectors, row, row, g.argument[i*g.n+left:i*g.n+right], nil, 0)
	}
}

// pack writes the panels of some columns of a block.
func (g *gemm) pack(packed []float32, d depthBlock, left, right int) {
	src := g.b.data[d.from*g.b.row+(g.jc+left)*g.b.col:]
	g.kernel.packColumns(packed, src, g.b.row, g.b.col, right-left, d.n)
}

// panel returns the panels of a block, starting at a column. If chunks run apart, each has
// memory for its deepest block. It is nil if b is read in place.
func (g *gemm) panel(d depthBlock, column int) []float32 {
	switch {
	case !g.packsB:
		return nil
	case g.apart():
		return g.device.panel[column*g.kc:]
	}
	return g.device.panel[column*d.n:]
}

// block computes some rows and columns of a block of the depth, as many rows at once as stay in the L2 cache. The panels of b are
// in packed, unless it reads them in place; with fresh it packs each there just before it is used for the first time.
func (g *gemm) block(c []float32, d depthBlock, top, bottom, left, right int, scratch, packed []float32, fresh bool) {
	p := panelProduct{ldc: g.n, k: d.n, b: packed, cols: right - left, more: d.from+d.n < g.k, order: g.order(top, bottom), edge: scratch[len(scratch)-maxTile:]}
	if !g.packsB {
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
	rows := bottom - top
	panels, groups := g.kernel.panels(rows), g.groups(rows)
	for i := range groups { // of whole panels
		from, to := top+rows*(panels*i/groups)/panels, top+rows*(panels*(i+1)/groups)/panels
		p.c, p.rows = c[from*g.n+g.jc+left:], to-from
		p.a, p.row, p.step = g.a.data[from*g.a.row+d.from*g.a.col:], g.a.row, g.a.col
		if g.packsA {
			g.kernel.packRows(scratch, p.a, p.row, p.step, p.rows, d.n)
			p.a, p.depth, p.row, p.step = scratch, d.n, 0, 0
		}
		if fresh && i == 0 {
			g.packing(p, d, left, groups == 1)
		} else {
			g.device.multiply(p)
		}
		if d.end {
			g.multiplySlope(from, to, g.jc+left, g.jc+right)
		}
	}
}

// order returns the order of the tiles of some rows, which should not end at rows of another thread.
func (g *gemm) order(top, bottom int) panelOrder {
	switch {
	case !g.bounded || bottom == g.m:
		return downward
	case top == 0:
		return upward
	}
	return outward
}

// panelsPacked is the number of panels of b that are packed at once: a panel of a row-major b has one or two lines of each row, and a
// CPU fetches the neighbors of a line.
func (g *gemm) panelsPacked() int {
	if g.b.col == 1 {
		return 4
	}
	return 1
}

// packing computes a product whose panels of b it packs just before it multiplies them. If nothing else uses them, they
// overwrite those before them in the cache.
func (g *gemm) packing(p panelProduct, d depthBlock, left int, once bool) {
	some := g.kernel.nr * g.panelsPacked()
	part := p
	for j := 0; j < p.cols; j += some {
		part.cols, part.c = min(some, p.cols-j), p.c[j:]
		if p.bias != nil {
			part.bias = p.bias[j:]
		}
		if !once {
			part.b = p.b[j*d.n:]
		}
		g.pack(part.b, d, left+j, left+j+part.cols)
		g.device.multiply(part)
	}
}

// groups returns the number of groups of rows whose panels of a are multiplied at once.
func (g *gemm) groups(rows int) int {
	most := g.kernel.panelsAtOnce(g.kc)
	return max(1, (g.kernel.panels(rows)+most-1)/most)
}
