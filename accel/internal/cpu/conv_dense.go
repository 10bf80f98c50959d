package cpu

// A convolution whose matmul leaves out the padding: the elements of the runs that belong
// to results are packed into panels, like another matrix, and multiplied with the tiles of
// gemm. That pays off if enough rows share the panels, and most if images are small and the
// padding is large.

// Limits of a dense matmul.
const (
	denseRows    = 48  // minimum rows to pay for packing
	denseDepth   = 32  // minimum depth
	denseColumns = 448 // columns that are packed at a time
)

// leaveOut reports whether a matmul with this number of rows and depth leaves out the
// padding.
func (k *conv2d) leaveOut(rows, depth int) bool {
	return k.device.kernel.rowTiles != nil && rows >= denseRows && depth >= denseDepth
}

// divideDense chooses the images and rows of a chunk, given the number of results per
// image. The result does not depend on the division.
func (k *conv2d) divideDense(rows, area int) {
	threads := k.device.pool.size
	k.images = min(max(1, denseColumns/max(area, 1)), k.n)
	k.chunksOfBatch = (k.n + k.images - 1) / k.images
	if k.chunksOfBatch > threads {
		k.chunksOfBatch = min(roundUp(k.chunksOfBatch, threads), k.n)
	}
	k.images = (k.n + k.chunksOfBatch - 1) / k.chunksOfBatch
	k.chunksOfBatch = (k.n + k.images - 1) / k.images
	k.blocks = 1
	if chunks := k.chunksOfBatch * k.groups; chunks < threads {
		k.blocks = min((threads+chunks-1)/chunks, k.device.kernel.panels(rows))
	}
	k.rows = (rows + k.blocks - 1) / k.blocks
	k.blocks = (rows + k.rows - 1) / k.rows
	k.used, k.whole = k.span(k.images, windowLen)
	k.dense = make([]columns, k.phases)
}

// denseWorkspace returns the number of elements in denseProduct's workspace, without the
// runs.
func (k *conv2d) denseWorkspace(depth int) int {
	return k.rows*denseColumns + denseColumns*min(depth, kcMax) + maxTile + 2*windowLen
}

// denseProduct computes panel·runs for the first n of the columns. It calls store for each
// part of the result: part has the values of a row, for an image of the chunk, from the
// position at on.
func (k *conv2d) denseProduct(c *columns, panel, runs []float32, offsets []int, rows, n int, workspace []float32, store func(r, image, at int, part []float32)) {
	for left := 0; left < n; left += denseColumns {
		k.denseBlock(c, panel, runs, offsets, rows, left, min(left+denseColumns, n), workspace, store)
	}
}

// denseBlock computes up to denseColumns of the columns.
func (k *conv2d) denseBlock(c *columns, panel, runs []float32, offsets []int, rows, left, right int, workspace []float32, store func(r, image, at int, part []float32)) {
	d, depth := k.device, len(offsets)
	result, workspace := workspace[:k.rows*denseColumns], workspace[k.rows*denseColumns:]
	edge, packed := workspace[:maxTile], workspace[maxTile:]
	blocks := max(1, (depth+kcMax-1)/kcMax)
	kc := min(roundUp((depth+blocks-1)/blocks, 8), max(depth, 1))
	if depth == 0 {
		clear(result)
	}
	for from := 0; from < depth; from += kc {
		part := offsets[from:min(from+kc, depth)]
		d.packColumnPanels(packed, runs, part, c, left, right)
		mode := addResult
		if from == 0 {
			mode = 0
		}
		d.multiply(panelProduct{c: result, ldc: denseColumns, a: panel, depth: depth, from: from, k: len(part), b: packed,
			rows: rows, cols: right - left, mode: mode, edge: edge})
	}
	area := c.count()
	for r := range rows {
		for at := left; at < right; {
			image := at / area
			to := min((image+1)*area, right)
			store(r, image, at-image*area, result[r*denseColumns+at-left:][:to-at])
			at = to
		}
	}
}
