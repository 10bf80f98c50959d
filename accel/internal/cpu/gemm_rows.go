package cpu

// A multiplication with few rows, such as one token of a decoder, reads each element of b only a few
// times, so packing b would take longer than the multiplication: how fast b arrives from memory decides. With contiguous
// rows of b, the result is a sum of rows; with contiguous columns, each element of it is a dot product. For some more rows,
// tiles read b in place, a few rows at once, as so many sequential streams.
const (
	streams        = 16 // rows of b that are read at once by tiles
	mostDotRows    = 4
	mostSummedRows = 2 // of the result: for more, tiles add more products to what they read
	leastDotDeep   = 64
	leastStreamed  = 1 << 18 // elements of b
	leastSummed    = 1 << 18 // elements of b: smaller ones stay in a cache, where tiles are faster
	mostSummed     = 1024    // columns that are summed at once, so that they stay in the first cache
)

// stream selects the algorithm of a multiplication with few rows, for which b is not packed.
func (g *gemm) stream() {
	switch {
	case g.m <= mostSummedRows && g.b.col == 1 && g.n >= g.kernel.lanes && g.n*g.k >= leastSummed:
		g.sums, g.packsA, g.packsB = true, false, false
	case g.m <= mostDotRows && g.packsB && g.b.row == 1 && g.a.col == 1 && g.k >= leastDotDeep:
		g.dots = true
	}
}

// readsInPlace reports whether tiles read b in place, a few rows at once, because they would read it only once.
func (g *gemm) readsInPlace() bool {
	if g.sums || g.dots || g.b.col != 1 || g.n%g.kernel.lanes != 0 || g.m > g.kernel.mr {
		return false
	}
	g.packsB = false
	return min(g.k, kcMax)*g.n > leastStreamed || g.b.row*4%4096 == 0
}

// dotChunk is the number of columns that a chunk computes as dot products.
func (g *gemm) dotChunk() int { return max(1, 2*leastProduct/(g.m*g.k)) }

// dot computes some columns as dot products.
func (g *gemm) dot(chunk int) {
	left := chunk * g.dotChunk()
	right := min(left+g.dotChunk(), g.n)
	j := left
	for ; j+dotRows <= right; j += dotRows {
		for i := range g.m {
			sums := g.device.vectors.dots(g.a.data[i*g.a.row:][:g.k], g.b.data[j*g.b.col:], g.b.col)
			copy(g.c[i*g.n+j:], sums[:])
		}
	}
	for ; j < right; j++ {
		column := g.b.data[j*g.b.col:][:g.k]
		for i := range g.m {
			row := g.a.data[i*g.a.row:][:g.k]
			g.c[i*g.n+j], _ = g.device.vectors.slopes(row, column, row, 0) // Σ column·row
		}
	}
	g.finish(left, right)
}

// sumChunks is the number of chunks of columns, the same number for each thread.
func (g *gemm) sumChunks() int {
	threads := g.device.pool.size
	return roundUp((g.n+mostSummed-1)/mostSummed, threads)
}

// sum computes some columns as sums of rows of b, four of them at once.
func (g *gemm) sum(chunk int) {
	width := roundUp((g.n+g.sumChunks()-1)/g.sumChunks(), g.kernel.lanes)
	left := min(chunk*width, g.n)
	right := min(left+width, g.n)
	if left == right {
		return
	}
	for i := range g.m {
		clear(g.c[i*g.n+left : i*g.n+right])
	}
	var factors [dotRows]float32
	p := 0
	for ; p+dotRows <= g.k; p += dotRows {
		for i := range g.m {
			for r := range factors {
				factors[r] = g.a.data[i*g.a.row+(p+r)*g.a.col]
			}
			g.device.vectors.addProducts(g.c[i*g.n+left:i*g.n+right], &factors, g.b.data[p*g.b.row+left:], g.b.row)
		}
	}
	for ; p < g.k; p++ {
		for i := range g.m {
			factor := g.a.data[i*g.a.row+p*g.a.col]
			row, c := g.b.data[p*g.b.row+left:], g.c[i*g.n+left:i*g.n+right]
			for j := range c {
				c[j] += float32(factor * row[j])
			}
		}
	}
	g.finish(left, right)
}

// finish applies the epilogue to some columns.
func (g *gemm) finish(left, right int) {
	for i := range g.m {
		var bias []float32
		if g.bias != nil {
			bias = g.bias[left:right]
		}
		g.device.epilogue(g.c[i*g.n+left:i*g.n+right], bias, g.relu)
	}
	g.multiplySlope(0, g.m, left, right)
}
