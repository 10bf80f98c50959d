package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.Conv2D](newConv2D)

// conv2d is y = x ∗ w + b: for each group, w [O, C·KH·KW] times the shifted runs of x (see
// planes). One chunk computes a few images and some output channels of one group.
type conv2d struct {
	planes
	convOperands
	device        *Device
	kernel        rowKernel
	depth         int // C/groups·KH·KW
	images        int // images per chunk
	blocks        int // chunks over the output channels of a group
	rows          int // output channels of one such chunk
	used, whole   int
	offsets       []int
	packed        int // size of one group's packed panels
	chunksOfBatch int
	dense         []columns // of each phase, if the matmul leaves out padding
	patches       *patches  // if there are few channels
}

// convOperands are the operands of a convolution or of one of its gradients, and during a run their elements.
type convOperands struct {
	argX, argW, argB, argY     ir.Operand // argB has no shape if there is no bias
	dataX, dataW, dataB, dataY []float32
	low                        float32 // lower bound of the results: 0 with ReLU
}

// newConvOperands returns the operands of a step that computes y from x, w and perhaps b.
func newConvOperands(s ir.Step) convOperands {
	k := convOperands{argX: s.In[0], argW: s.In[1], argY: s.Out[0], low: float32(math.Inf(-1))}
	if len(s.In) == 3 {
		k.argB = s.In[2]
	}
	if s.Epilogue != nil {
		k.low = 0
	}
	return k
}

// bind looks up the elements; release drops the references.
func (k *convOperands) bind(p *program) {
	k.dataX, k.dataW, k.dataY = elements[float32](p, k.argX), elements[float32](p, k.argW), elements[float32](p, k.argY)
	if k.argB.Shape != nil {
		k.dataB = elements[float32](p, k.argB)
	}
}

func (k *convOperands) release() { k.dataX, k.dataW, k.dataY, k.dataB = nil, nil, nil, nil }

func (k *convOperands) biasOf(o int) float32 {
	if k.dataB == nil {
		return 0
	}
	return k.dataB[o]
}

// Limits of a chunk's memory in the cache and of a tile's panel.
const (
	convScratch = 1 << 16 // approximate elements of runs and results
	convDepth   = 512     // depth that is accumulated in registers
	convColumns = 8       // tiles of columns that are computed together
)

func newConv2D(d *Device, s ir.Step) (step, error) {
	x, w, y := s.In[0].Shape, s.In[1].Shape, s.Out[0].Shape
	k := &conv2d{device: d, convOperands: newConvOperands(s)}
	k.planes = newPlanes(s.Op.(ir.Conv2D), x[0], x[1], x[2], x[3], y[1], y[2], y[3], w[2], w[3])
	if ir.Len(y) == 0 {
		return k, nil
	}
	if suitsWinograd(s.Op.(ir.Conv2D), &k.planes) || suitsWinogradFew(s.Op.(ir.Conv2D), &k.planes) {
		return newWinogradConv(d, s, &k.planes), nil
	}
	if k.isSmall() {
		return newSmallConv(d, s, &k.planes, false), nil
	}
	if suitsFew(d, &k.planes) {
		return newFewConv(d, s, &k.planes), nil
	}
	k.kernel = d.shift.forRows(k.out())
	k.depth = k.in() * k.kh * k.kw
	column := newColumnConv(k)
	if column != nil {
		k.dense = []columns{column.columns}
	} else if k.leaveOut(k.out(), k.depth) {
		k.divideDense(k.out(), k.oh*k.ow)
		k.dense = []columns{newColumns(positions{0, k.oh, k.ow, k.pitch, k.image}, k.images, d.kernel.nr)}
	} else {
		k.divide(k.in()*k.phases, k.out(), k.groups)
	}
	k.offsets = make([]int, k.depth)
	for c := range k.in() {
		for t := range k.shift {
			k.offsets[c*len(k.shift)+t] = k.runOffset(c, t, k.whole)
		}
	}
	k.packed = roundUp(k.out(), k.kernel.mr) * k.depth
	if column != nil {
		d.reserve(k.packed+k.in()*k.phases*k.whole+windowLen, k.denseWorkspace(k.depth))
		return column, nil
	}
	if k.patches = newPatches(k, k.depth); k.patches != nil {
		k.rows, k.blocks = k.out(), 1
		d.reserve(k.packed, k.patches.size())
		return k, nil
	}
	workspace := roundUp(k.rows, k.kernel.mr) * k.used
	if k.dense != nil {
		workspace = k.denseWorkspace(k.depth)
	}
	d.reserve(k.packed*k.groups, k.in()*k.phases*k.whole+workspace)
	return k, nil
}

// divide chooses the images and rows of a chunk so that runs and results fit in the L2
// cache and every thread has work. The result does not depend on the division.
func (k *conv2d) divide(runs, rows, groups int) {
	wanted := 4 * k.device.pool.size
	each := (runs + rows) * k.image
	k.images = max(1, min(k.n, convScratch/max(each, 1), k.n*groups/wanted))
	k.chunksOfBatch = (k.n + k.images - 1) / k.images
	k.blocks = 1
	if chunks := k.chunksOfBatch * groups; chunks < wanted {
		k.blocks = min((wanted+chunks-1)/chunks, max(1, rows/(2*k.kernel.mr)))
	}
	k.rows = roundUp((rows+k.blocks-1)/k.blocks, k.kernel.mr)
	k.blocks = (rows + k.rows - 1) / k.rows
	k.used, k.whole = k.span(k.images, k.kernel.nr)
}

func (k *conv2d) run(p *program) error {
	k.bind(p)
	if len(k.dataY) > 0 {
		p.device.pool.each(k.groups*k.blocks, func(chunk, _ int) { k.pack(chunk/k.blocks, chunk%k.blocks*k.rows) })
		p.device.pool.run(k.chunksOfBatch*k.groups*k.blocks, k)
	}
	k.release()
	return nil
}

func (k *conv2d) work(chunk, worker int) {
	block, group, first := chunk%k.blocks, chunk/k.blocks%k.groups, chunk/k.blocks/k.groups*k.images
	images := min(k.images, k.n-first)
	scratch := k.device.scratch[worker]
	if k.patches != nil {
		for i := range images {
			k.patches.lay(scratch, first+i)
			k.patches.results(scratch, first+i)
		}
		return
	}
	runs := scratch[:k.in()*k.phases*k.whole]
	k.spread(k.device, runs, k.dataX, first, images, group*k.in(), (group+1)*k.in(), k.whole)
	from := block * k.rows
	rows := min(k.rows, k.out()-from)
	if k.dense != nil {
		panel := k.device.panel[group*k.packed+from*k.depth:]
		k.denseProduct(&k.dense[0], panel, runs, k.offsets, rows, images*k.oh*k.ow, scratch[len(runs):], k.storeDense(first, group*k.out()+from))
		return
	}
	result := scratch[len(runs):]
	panel := k.device.panel[group*k.packed+from*k.depth:]
	product(k.kernel, panel, runs, k.offsets, result, rows, roundUp(images*k.image, k.kernel.nr), k.used)
	for r := range rows {
		o := group*k.out() + from + r
		for i := range images {
			y := k.dataY[((first+i)*k.o+o)*k.oh*k.ow:][:k.oh*k.ow]
			k.device.shift.biasRows(k.oh, k.ow, &y[0], k.ow, &result[r*k.used+i*k.image], k.pitch, k.biasOf(o), k.low)
		}
	}
}

// pack writes the panels of a group's rows, starting at one of its blocks.
func (k *conv2d) pack(group, from int) {
	if k.depth == 0 {
		return
	}
	rows := min(k.rows, k.out()-from)
	w, panel := k.dataW[(group*k.out()+from)*k.depth:], k.device.panel[group*k.packed+from*k.depth:]
	if k.dense != nil {
		k.device.kernel.packRows(panel, w, k.depth, 1, rows, k.depth)
		return
	}
	k.device.kernel.pack(panel, w, k.depth, 1, rows, k.depth, k.kernel.mr)
}

// storeDense returns a function for denseProduct that stores the results of images and output channels from some on.
func (k *conv2d) storeDense(first, channel int) func(r, image, at int, part []float32) {
	return func(r, image, at int, part []float32) {
		o := channel + r
		y := k.dataY[((first+image)*k.o+o)*k.oh*k.ow+at:][:len(part)]
		k.device.shift.biasRows(1, len(part), &y[0], 0, &part[0], 0, k.biasOf(o), k.low)
	}
}

// product computes result = panel·runs for some rows and columns, both rounded up to tiles.
// Row p of the right-hand side starts at runs[offsets[p]].
func product(k rowKernel, panel, runs []float32, offsets []int, result []float32, rows, columns, ldc int) {
	depth := len(offsets)
	if depth == 0 {
		clear(result[:roundUp(rows, k.mr)*ldc])
		return
	}
	for left := 0; left < columns; left += convColumns * k.nr {
		right := min(columns, left+convColumns*k.nr)
		for from := 0; from < depth; from += convDepth {
			n, add := min(convDepth, depth-from), 0
			if from > 0 {
				add = 1
			}
			for i := 0; i < rows; i += k.mr {
				a := &panel[i*depth+from*k.mr]
				for j := left; j < right; j += k.nr {
					k.tile(n, a, &runs[j], &offsets[from], &result[i*ldc+j], ldc, add)
				}
			}
		}
	}
}
