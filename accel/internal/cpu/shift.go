package cpu

// shiftKernel is the functions of convolutions. They read rows of an image with shifts
// instead of packed panels.
type shiftKernel struct {
	mr, nr int // rows and columns of tile
	single int // columns of tile1
	lanes  int // the length of a run in dots is a multiple of lanes

	// tile computes c = a·b, or c += a·b if add is not 0, for a packed panel a of mr rows.
	// Row p of b is the nr elements starting at offsets[p]. The rows of c are ldc elements
	// apart. tile1 is the same for a panel of one row.
	tile, tile1 func(k int, a, b *float32, offsets *int, c *float32, ldc, add int)

	// dots adds Σ a[i][v]·b[offsets[j]+v] over v < n to c[i][j], for mr rows of a and three
	// offsets; dots1 does it for one row.
	dots, dots1 func(n int, a *float32, lda int, b *float32, offsets *int, c *float32, ldc int)

	// biasRows computes d = max(a+bias, low), NaN if a is NaN, for rows that are dpitch and
	// apitch elements apart.
	biasRows func(rows, width int, d *float32, dpitch int, a *float32, apitch int, bias, low float32)
}

var genericShift = shiftKernel{
	mr: 4, nr: 8, single: 8, lanes: 4,
	tile: func(k int, a, b *float32, offsets *int, c *float32, ldc, add int) {
		shiftTileGeneric(4, 8, k, a, b, offsets, c, ldc, add)
	},
	tile1: func(k int, a, b *float32, offsets *int, c *float32, ldc, add int) {
		shiftTileGeneric(1, 8, k, a, b, offsets, c, ldc, add)
	},
	dots: func(n int, a *float32, lda int, b *float32, offsets *int, c *float32, ldc int) {
		shiftDotsGeneric(4, n, a, lda, b, offsets, c, ldc)
	},
	dots1: func(n int, a *float32, lda int, b *float32, offsets *int, c *float32, ldc int) {
		shiftDotsGeneric(1, n, a, lda, b, offsets, c, ldc)
	},
	biasRows: biasRowsGeneric,
}

// rowKernel is tile and dots for panels of one height.
type rowKernel struct {
	mr, nr int
	tile   func(k int, a, b *float32, offsets *int, c *float32, ldc, add int)
	dots   func(n int, a *float32, lda int, b *float32, offsets *int, c *float32, ldc int)
}

// forRows returns the kernel for a number of rows: a few rows would leave most of a tile
// unused.
func (s *shiftKernel) forRows(rows int) rowKernel {
	if rows*4 <= s.mr {
		return rowKernel{1, s.single, s.tile1, s.dots1}
	}
	return rowKernel{s.mr, s.nr, s.tile, s.dots}
}
