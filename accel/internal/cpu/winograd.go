package cpu

// Convolutions of 3×3 by Winograd's F(4×4, 3×3): a tile of 4×4 results is the inverse
// transform of the element-wise product of 6×6 transformed elements, 36 multiplications
// instead of 144 (Winograd, "Arithmetic complexity of computations", 1980; Lavin and Gray,
// arXiv:1509.09308). Summed over channels, these are 36 matrix multiplications of tiles by
// input channels and input channels by output channels.
//
// The transforms interpolate at 0, ±3/4, ±3/2 and infinity. With the usual points 0, ±1 and
// ±2, rounding errors are four times as large; with these they are about twice those of a
// sum of as many products, see TestWinogradRounding. The elements of a tile affect each
// other: an infinite one makes all results of the tile NaN.

// winogradKernel is the functions of these convolutions. Channels, lanes of them, form a
// vector.
type winogradKernel struct {
	lanes int

	// interleave interleaves rows: dst[offsets[j]+i] = src[i·row+j] for all lanes i and for j <
	// n. deinterleave is the reverse: dst[i·row+j] = src[offsets[j]+i]. rowOffsets makes the
	// offsets.
	//
	// Both process whole blocks of columns: interleave writes zeros after n, and deinterleave reads
	// them.
	interleave   func(n int, dst, src *float32, row int, offsets *int)
	deinterleave func(n int, dst *float32, row int, src *float32, offsets *int)

	// The transforms of n squares of vectors. The 36 elements of a transformed square are
	// step apart; the next square follows. Rows of images are pitch apart; the next square
	// is four vectors to the right.
	//
	// input is Bᵀ·X·B of 6×6, slope is A·Y·Aᵀ of 4×4, and output is Aᵀ·M·A, plus the first
	// vector in ends (the bias) and at least the second. weight is G·W·Gᵀ of 3×3 contiguous
	// elements; next is the distance of transformed squares; it prefetches 9 elements for each
	// lane and square, for later squares, from ahead on, in rows that are row apart. gradient is Gᵀ·M·G.
	input, slope func(n int, dst *float32, step int, src *float32, pitch int)
	output       func(n int, dst *float32, pitch int, src *float32, step int, ends *float32)
	weight       func(n int, dst *float32, step, next int, src, ahead *float32, row int)
	gradient     func(n int, dst, src *float32, step, next int)

	// tiles multiply some rows by one or two vectors, with a depth of k blocks of lanes:
	// row i of a is vector i of a block, blocks are apart, and b's rows are contiguous. The
	// vectors of a row of c are next apart. With add, the result is added to c.
	tiles [][]blockTile

	// sums are c = Σ aᵀ·b or, with add, c += Σ aᵀ·b, of lanes/2 rows by one or two vectors
	// over k vectors of a and of b; the second vectors of b are next apart.
	sums []sumTile
}

// Tiles of matrix multiplications; see winogradKernel.
type (
	blockTile func(k int, a *float32, apart int, b, c *float32, next, add int)
	sumTile   func(k int, a, b *float32, next int, c *float32, ldc, add int)
)

// squares is the number of elements of a transformed square.
const squares = 36

var genericWinograd = newGenericWinograd(4)

// rowOffsets returns the offsets for interleave and deinterleave, padded to whole blocks.
func (t *winogradKernel) rowOffsets(n int, at func(j int) int) []int {
	table := make([]int, roundUp(n, t.lanes))
	for j := range table {
		table[j] = at(min(j, n-1))
	}
	return table
}

// interleaveRows is interleave for q rows, padded with zero rows to a whole vector; workspace has of
// lanes·n elements.
func (t *winogradKernel) interleaveRows(dst, src []float32, row, q, n int, offsets []int, workspace []float32) {
	if q < t.lanes {
		for i := range q {
			copy(workspace[i*n:][:n], src[i*row:])
		}
		clear(workspace[q*n : t.lanes*n])
		src, row = workspace, n
	}
	_ = src[(t.lanes-1)*row+n-1]
	t.interleave(n, &dst[0], &src[0], row, &offsets[0])
}

// deinterleaveRows is deinterleave for the first q rows.
func (t *winogradKernel) deinterleaveRows(dst []float32, row, q, n int, src []float32, offsets []int, workspace []float32) {
	if q == t.lanes {
		_ = dst[(q-1)*row+n-1]
		t.deinterleave(n, &dst[0], row, &src[0], &offsets[0])
		return
	}
	t.deinterleave(n, &workspace[0], n, &src[0], &offsets[0])
	for i := range q {
		copy(dst[i*row:][:n], workspace[i*n:])
	}
}

// tiling is the division of images into tiles of 4×4 results.
type tiling struct {
	n, h, w, oh, ow int // number of images, and their sizes before and after the convolution
	top, left       int // padding
	down, across    int // tiles per image

	images, rows int // images and rows of tiles that are computed together
	bands        int // number of such parts per image
}

func newTiling(n, h, w, oh, ow, top, left int) tiling {
	return tiling{n: n, h: h, w: w, oh: oh, ow: ow, top: top, left: left, down: (oh + 3) / 4, across: (ow + 3) / 4}
}

// divide splits the work into parts of at most a number of tiles, but at least one row of
// tiles.
func (g *tiling) divide(most int) {
	g.images, g.rows = 1, g.down
	if each := g.down * g.across; each <= most {
		g.images = min(g.n, most/each)
	} else {
		g.rows = max(1, most/g.across)
	}
	g.bands = (g.down + g.rows - 1) / g.rows
}

// parts returns the number of parts.
func (g *tiling) parts() int { return (g.n + g.images - 1) / g.images * g.bands }

// most returns the number of tiles of the largest part.
func (g *tiling) most() int { return g.images * g.rows * g.across }

// tilingPart is some images, or some rows of tiles of one image.
type tilingPart struct {
	first, images int
	tile, rows    int // the first row of tiles, and the number of rows
}

func (g *tiling) part(i int) tilingPart {
	p := tilingPart{first: i / g.bands * g.images, tile: i % g.bands * g.rows}
	p.images, p.rows = min(g.images, g.n-p.first), min(g.rows, g.down-p.tile)
	return p
}

// source returns the rows of an image that a part reads, and the number of zero rows before
// them.
func (g *tiling) source(p tilingPart) (from, to, zeros int) {
	begin := 4*p.tile - g.top
	from = max(begin, 0)
	return from, max(min(begin+4*p.rows+2, g.h), from), from - begin
}

// result returns the rows of results of a part.
func (g *tiling) result(p tilingPart) (from, to int) {
	return 4 * p.tile, min(4*(p.tile+p.rows), g.oh)
}

// blocks returns the number of vectors for a number of channels.
func (t *winogradKernel) blocks(channels int) int { return (channels + t.lanes - 1) / t.lanes }

// tiledSource transforms tiles of images with some channels.
type tiledSource struct {
	*tiling
	kernel     *winogradKernel
	channels   int // channels per image
	slopes     bool
	pitch      int
	rowOffsets []int
}

// newTiledSource is for the images of a convolution, or with slopes for the gradients of
// its results.
func newTiledSource(t *winogradKernel, g *tiling, channels int, slopes bool) tiledSource {
	s := tiledSource{tiling: g, kernel: t, channels: channels, slopes: slopes}
	s.pitch = (4*g.across + 2) * t.lanes
	w, left := g.w, g.left
	if slopes {
		w, left = g.ow, 0
	}
	s.rowOffsets = t.rowOffsets(min(s.height(), g.rows*4+2)*w, func(j int) int { return j/w*s.pitch + (left+j%w)*t.lanes })
	return s
}

func (s *tiledSource) height() int {
	if s.slopes {
		return s.oh
	}
	return s.h
}

func (s *tiledSource) width() int {
	if s.slopes {
		return s.ow
	}
	return s.w
}

// spread returns the size of the workspace for one image's vectors, with one more row that
// interleave may write.
func (s *tiledSource) spread() int { return (4*s.rows + 3) * s.pitch }

// transform writes the transformed tiles of a part of images x, for some blocks of channels
// starting at first: elements are step apart, blocks have as many vectors as there are
// tiles. workspace has the sizes of spread and interleaveRows.
func (s *tiledSource) transform(dst []float32, step int, x []float32, p tilingPart, first, blocks int, workspace []float32) {
	t, h, w := s.kernel, s.height(), s.width()
	from, to, zeros := s.source(p)
	if s.slopes {
		from, to = s.result(p)
		zeros = 0
	}
	spread, workspace := workspace[:s.spread()], workspace[s.spread():]
	clear(spread)
	tiles := p.images * p.rows * s.across
	for i := range p.images {
		for b := range blocks {
			c := (first + b) * t.lanes
			if n := (to - from) * w; n > 0 {
				t.interleaveRows(spread[zeros*s.pitch:], x[((p.first+i)*s.channels+c)*h*w+from*w:], h*w, min(t.lanes, s.channels-c), n, s.rowOffsets, workspace)
			}
			for r := range p.rows {
				at := dst[(b*tiles+(i*p.rows+r)*s.across)*t.lanes:]
				if s.slopes {
					t.slope(s.across, &at[0], step, &spread[4*r*s.pitch], s.pitch)
				} else {
					t.input(s.across, &at[0], step, &spread[4*r*s.pitch], s.pitch)
				}
			}
		}
	}
}
