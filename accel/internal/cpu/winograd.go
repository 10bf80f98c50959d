package cpu

// Convolutions of 3×3 by Winograd's F(4×4, 3×3): a tile of 4×4 results is the
// inverse transform of products, element by element, of 6×6 transformed numbers,
// 36 multiplications in place of 144 (Winograd, "Arithmetic complexity of
// computations", 1980; Lavin and Gray, arXiv:1509.09308). Summed over channels the
// products are 36 products of matrices, of tiles by channels and channels by
// outputs.
//
// The transforms interpolate at 0, ±3/4, ±3/2 and infinity. With the points 0, ±1
// and ±2 that are usual, rounding is felt four times as much; with these it is
// about twice that of a sum of as many products, see TestWinogradRounding. A tile
// shares its numbers: an infinite one makes all of its results NaN.

// winogradKernel are the functions that these convolutions are made of. Channels,
// lanes of them, lie beside each other as a vector.
type winogradKernel struct {
	lanes int

	// turn lays rows beside each other: dst[offsets[j]+i] = src[i·row+j] for all
	// lanes i and for j < n. turnBack is dst[i·row+j] = src[offsets[j]+i]. Tables
	// are made by places.
	//
	// Up to whole blocks of columns turn writes zeros, and turnBack reads.
	turn     func(n int, dst, src *float32, row int, offsets *int)
	turnBack func(n int, dst *float32, row int, src *float32, offsets *int)

	// The transforms of n squares of vectors. The 36 elements of a transformed one
	// lie a step apart, the next square lies behind it; rows of images lie a pitch
	// apart, the next square four vectors to the right.
	//
	// input is Bᵀ·X·B of 6×6, slope A·Y·Aᵀ of 4×4, and output Aᵀ·M·A, with the first
	// of the vectors in ends added and not below the second. weight is G·W·Gᵀ of
	// 3×3 elements, which lie one after the other; next is from one transformed
	// square to another. gradient is Gᵀ·M·G.
	input, slope func(n int, dst *float32, step int, src *float32, pitch int)
	output       func(n int, dst *float32, pitch int, src *float32, step int, ends *float32)
	weight       func(n int, dst *float32, step, next int, src *float32)
	gradient     func(n int, dst, src *float32, step, next int)

	// tiles are products of some rows by one or two vectors, k blocks of lanes
	// deep: row i of a is vector i of a block, blocks lie apart, and b's rows one
	// after the other. c has a row's vectors next apart. With add it is added to.
	tiles [][]blockTile

	// sums are c = Σ aᵀ·b or, with add, c += Σ aᵀ·b, of lanes/2 rows by one or two
	// vectors over k vectors of a and of b, whose second ones lie next apart.
	sums []sumTile
}

// Tiles of products; see winogradKernel.
type (
	blockTile func(k int, a *float32, apart int, b, c *float32, next, add int)
	sumTile   func(k int, a, b *float32, next int, c *float32, ldc, add int)
)

// squares is the number of elements of a transformed square.
const squares = 36

var genericWinograd = newGenericWinograd(4)

// places is a table for turn and turnBack, filled up to whole blocks.
func (t *winogradKernel) places(n int, at func(j int) int) []int {
	table := make([]int, roundUp(n, t.lanes))
	for j := range table {
		table[j] = at(min(j, n-1))
	}
	return table
}

// turnRows is turn for q rows, and zeros for those that a vector has more; room
// takes lanes·n elements.
func (t *winogradKernel) turnRows(dst, src []float32, row, q, n int, offsets []int, room []float32) {
	if q < t.lanes {
		for i := range q {
			copy(room[i*n:][:n], src[i*row:])
		}
		clear(room[q*n : t.lanes*n])
		src, row = room, n
	}
	_ = src[(t.lanes-1)*row+n-1]
	t.turn(n, &dst[0], &src[0], row, &offsets[0])
}

// turnRowsBack is turnBack for the first q rows.
func (t *winogradKernel) turnRowsBack(dst []float32, row, q, n int, src []float32, offsets []int, room []float32) {
	if q == t.lanes {
		_ = dst[(q-1)*row+n-1]
		t.turnBack(n, &dst[0], row, &src[0], &offsets[0])
		return
	}
	t.turnBack(n, &room[0], n, &src[0], &offsets[0])
	for i := range q {
		copy(dst[i*row:][:n], room[i*n:])
	}
}

// tiling is how images are cut into tiles of 4×4 results.
type tiling struct {
	n, h, w, oh, ow int // images, and their sizes before and after
	top, left       int // zeros before an image
	down, across    int // tiles of an image

	images, rows int // images and rows of tiles that are worked on together
	bands        int // such parts of an image
}

func newTiling(n, h, w, oh, ow, top, left int) tiling {
	return tiling{n: n, h: h, w: w, oh: oh, ow: ow, top: top, left: left, down: (oh + 3) / 4, across: (ow + 3) / 4}
}

// divide cuts the work into parts of at most so many tiles, if that is a row.
func (g *tiling) divide(most int) {
	g.images, g.rows = 1, g.down
	if each := g.down * g.across; each <= most {
		g.images = min(g.n, most/each)
	} else {
		g.rows = max(1, most/g.across)
	}
	g.bands = (g.down + g.rows - 1) / g.rows
}

// parts is the number of parts.
func (g *tiling) parts() int { return (g.n + g.images - 1) / g.images * g.bands }

// most is the number of tiles of the largest part.
func (g *tiling) most() int { return g.images * g.rows * g.across }

// part is some images, or some rows of tiles of one.
type tilingPart struct {
	first, images int
	tile, rows    int // the first row of tiles, and how many
}

func (g *tiling) part(i int) tilingPart {
	p := tilingPart{first: i / g.bands * g.images, tile: i % g.bands * g.rows}
	p.images, p.rows = min(g.images, g.n-p.first), min(g.rows, g.down-p.tile)
	return p
}

// source is the rows of an image that a part reads, and how many zeros are before.
func (g *tiling) source(p tilingPart) (from, to, zeros int) {
	begin := 4*p.tile - g.top
	from = max(begin, 0)
	return from, max(min(begin+4*p.rows+2, g.h), from), from - begin
}

// result is the rows of results of a part.
func (g *tiling) result(p tilingPart) (from, to int) {
	return 4 * p.tile, min(4*(p.tile+p.rows), g.oh)
}

// blocks is the number of vectors that channels need.
func (t *winogradKernel) blocks(channels int) int { return (channels + t.lanes - 1) / t.lanes }

// tiledSource transforms tiles of images with some channels.
type tiledSource struct {
	*tiling
	kernel   *winogradKernel
	channels int // of an image
	slopes   bool
	pitch    int
	places   []int
}

// newTiledSource is for images before the convolution, or for slopes, which have
// the size of those behind it.
func newTiledSource(t *winogradKernel, g *tiling, channels int, slopes bool) tiledSource {
	s := tiledSource{tiling: g, kernel: t, channels: channels, slopes: slopes}
	s.pitch = (4*g.across + 2) * t.lanes
	w, left := g.w, g.left
	if slopes {
		w, left = g.ow, 0
	}
	s.places = t.places(min(s.height(), g.rows*4+2)*w, func(j int) int { return j/w*s.pitch + (left+j%w)*t.lanes })
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

// spread is the size of the room for one image's vectors, with a row more for what
// turn writes behind the last one.
func (s *tiledSource) spread() int { return (4*s.rows + 3) * s.pitch }

// transform writes the transformed tiles of a part of images x, of some blocks of
// channels from the first one on: elements a step apart, blocks of as many vectors
// as there are tiles. room takes what spread and turnRows need.
func (s *tiledSource) transform(dst []float32, step int, x []float32, p tilingPart, first, blocks int, room []float32) {
	t, h, w := s.kernel, s.height(), s.width()
	from, to, zeros := s.source(p)
	if s.slopes {
		from, to = s.result(p)
		zeros = 0
	}
	spread, room := room[:s.spread()], room[s.spread():]
	clear(spread)
	tiles := p.images * p.rows * s.across
	for i := range p.images {
		for b := range blocks {
			c := (first + b) * t.lanes
			if n := (to - from) * w; n > 0 {
				t.turnRows(spread[zeros*s.pitch:], x[((p.first+i)*s.channels+c)*h*w+from*w:], h*w, min(t.lanes, s.channels-c), n, s.places, room)
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
