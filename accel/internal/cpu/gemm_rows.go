package cpu

// A multiplication with few rows, such as one token of a decoder, reads each element of b only a few
// times, so packing b would take longer than the multiplication. With contiguous rows of b, tiles
// read it in place, a few rows at once, as so many sequential streams. With contiguous columns, each
// element of the result is a dot product.
const (
	streams      = 16 // rows of b that are read at once
	mostDotRows  = 4
	leastDotDeep = 64
)

// avoidPacking selects the algorithm of a multiplication that would pack b.
func (g *gemm) avoidPacking() (inPlace bool) {
	switch {
	case g.b.col == 1 && g.n%g.kernel.lanes == 0 && g.m <= g.kernel.mr:
		g.packsB = false
		return true
	case g.b.row == 1 && g.a.col == 1 && g.m <= mostDotRows && g.k >= leastDotDeep:
		g.dots = true
	}
	return false
}

// dotChunk is the number of columns that a chunk computes as dot products.
func (g *gemm) dotChunk() int { return max(1, 2*leastProduct/(g.m*g.k)) }

// dot computes some columns as dot products.
func (g *gemm) dot(chunk int) {
	left := chunk * g.dotChunk()
	right := min(left+g.dotChunk(), g.n)
	for j := left; j < right; j++ {
		column := g.b.data[j*g.b.col:][:g.k]
		for i := range g.m {
			row := g.a.data[i*g.a.row:][:g.k]
			g.c[i*g.n+j], _ = g.device.vectors.slopes(row, column, row, 0) // Σ column·row
		}
	}
	for i := range g.m {
		var bias []float32
		if g.bias != nil {
			bias = g.bias[left:right]
		}
		g.device.epilogue(g.c[i*g.n+left:i*g.n+right], bias, g.relu)
	}
}
