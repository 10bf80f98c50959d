package cpu

import "math"

// A matrix product c = a·b is computed in tiles of the kernel's size. b is
// packed into panels of nr columns, a into panels of mr rows, each a run of
// memory that the kernel reads from start to end. Blocks of depth kcMax keep a
// panel of b in the first-level cache, blocks of rows keep a's panels in the
// second (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", ACM TOMS 34(3), 2008).
const (
	kcMax = 384
	ncMax = 4096
)

// gemmKernel computes one mr×nr tile from packed panels: c = a·b, or c += a·b
// if add is not 0. c has ldc elements between rows.
type gemmKernel struct {
	name   string
	mr, nr int
	tile   func(k int, a, b, c *float32, ldc, add int)
	// interleave packs 8 rows of a depth that is a multiple of 8, copyRows
	// packs from 8 columns on; nil for plain Go.
	interleave func(dst, src *float32, row, k, w int)
	copyRows   func(dst, src *float32, k, q, w, col int)
	// spin does spinFlops operations in registers alone, n times; see Peak.
	spin      func(n int)
	spinFlops int
}

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
	packing    bool
	jc, nc     int
	pc, kc     int
	columns    int // of b that one chunk packs
	mc         int // rows of a that one chunk packs and computes
	first, end bool

	device *Device // whose shared memory takes the packed panels
}

func roundUp(n, m int) int { return (n + m - 1) / m * m }

func newGEMM(d *Device, m, n, k int) *gemm {
	g := &gemm{device: d, kernel: d.kernel, m: m, n: n, k: k}
	blocks := max(1, (k+kcMax-1)/kcMax)
	g.kc = min(roundUp((k+blocks-1)/blocks, 8), k) // 8 is what packing likes
	g.nc = min(roundUp(n, g.kernel.nr), ncMax/g.kernel.nr*g.kernel.nr)
	g.columns = max(g.kernel.nr, roundUp((n+15)/16, g.kernel.nr))
	g.mc = g.kernel.mr * chunkPanels((m+g.kernel.mr-1)/g.kernel.mr, d.pool.size)
	d.reserve(g.nc*g.kc, g.mc*g.kc+maxTile)
	return g
}

// maxPanels bounds the panels of a that one chunk packs, so that they stay in
// the second-level cache beside those of b.
const maxPanels = 12

// chunkPanels is how many of n panels one chunk takes. It weighs the time of
// the busiest thread against the cost of passing over b once for each chunk and
// that of waiting for the last one. The result of a product does not depend on
// it.
func chunkPanels(n, threads int) int {
	best, cheapest := 1, math.Inf(1)
	for p := 1; p <= maxPanels; p++ {
		chunks := (n + p - 1) / p
		rounds := (chunks + threads - 1) / threads
		if cost := float64(rounds*p) + 0.5*float64(rounds) + 0.3*float64(p); cost < cheapest {
			best, cheapest = p, cost
		}
	}
	return best
}

// run computes c from a, b and the epilogue's operands.
func (g *gemm) run() {
	p := g.device.pool
	if g.k == 0 {
		clear(g.c)
		g.epilogue(0, g.m, 0, g.n)
		return
	}
	kc, nc := g.kc, g.nc
	for g.jc = 0; g.jc < g.n; g.jc += nc {
		g.nc = min(nc, g.n-g.jc)
		for g.pc = 0; g.pc < g.k; g.pc += kc {
			g.kc = min(kc, g.k-g.pc)
			g.first, g.end = g.pc == 0, g.pc+g.kc == g.k
			g.packing = true
			p.run((g.nc+g.columns-1)/g.columns, g)
			g.packing = false
			p.run((g.m+g.mc-1)/g.mc, g)
		}
	}
	g.kc, g.nc = kc, nc
}

func (g *gemm) work(chunk, worker int) {
	if g.packing {
		j := chunk * g.columns
		n := min(g.columns, g.nc-j)
		src := g.b.data[g.pc*g.b.row+(g.jc+j)*g.b.col:]
		g.kernel.pack(g.device.panel[j*g.kc:], src, g.b.col, g.b.row, n, g.kc, g.kernel.nr)
		return
	}
	g.rows(chunk*g.mc, g.device.scratch[worker])
}

// rows computes the rows of one chunk of the current block.
func (g *gemm) rows(ic int, packed []float32) {
	mr, nr := g.kernel.mr, g.kernel.nr
	mc := min(g.mc, g.m-ic)
	g.kernel.pack(packed, g.a.data[ic*g.a.row+g.pc*g.a.col:], g.a.row, g.a.col, mc, g.kc, mr)
	add := 1
	if g.first {
		add = 0
	}
	edge := packed[len(packed)-maxTile:]
	for j := 0; j < g.nc; j += nr {
		n := min(nr, g.nc-j)
		b := &g.device.panel[j*g.kc]
		for i := 0; i < mc; i += mr {
			m := min(mr, mc-i)
			c := g.c[(ic+i)*g.n+g.jc+j:]
			if m == mr && n == nr {
				g.kernel.tile(g.kc, &packed[i*g.kc], b, &c[0], g.n, add)
			} else {
				g.kernel.tile(g.kc, &packed[i*g.kc], b, &edge[0], nr, 0)
				for r := range m {
					row := c[r*g.n:][:n]
					if g.first {
						copy(row, edge[r*nr:])
					} else {
						g.device.vectors.add(row, row, edge[r*nr:][:n])
					}
				}
			}
			if g.end {
				g.epilogue(ic+i, m, g.jc+j, n)
			}
		}
	}
}

// epilogue adds the bias and applies the activation to a part of c.
func (g *gemm) epilogue(i, m, j, n int) {
	for r := i; r < i+m; r++ {
		row := g.c[r*g.n+j:][:n]
		switch {
		case g.bias != nil && g.relu:
			g.device.vectors.biasReLU(row, row, g.bias[j:][:n])
		case g.bias != nil:
			g.device.vectors.add(row, row, g.bias[j:][:n])
		case g.relu:
			g.device.vectors.relu(row, row)
		}
	}
}
