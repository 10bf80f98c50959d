package cpu

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.Quantized](newQuantized)

// quantized runs a network of int8 layers: each worker runs some examples through all
// layers, so that the activations stay in its cache.
type quantized struct {
	in, out    ir.Operand
	kernel     *byteKernel
	network    *integer.Network
	stages     []byteStage
	count      int                                    // examples
	per        int                                    // examples per chunk
	pixels     int                                    // pixels of an input image; 1 for rows
	size       int                                    // elements of an input example
	largest    int                                    // maximum elements of an example over all layers
	depth      int                                    // maximum depth of a matmul
	row        int                                    // maximum bytes of a row of padding pixels
	taps       int                                    // taps of the largest window
	interleave func(dst, src *float32, row, k, w int) // see gemmKernel.interleave; may be nil

	x, y  []float32
	bad   []int // per worker: the index of an input that is not finite, or -1
	arena [][]float32
}

// byteStage is a layer with the shapes of its input and output, [C, H, W] or [In].
type byteStage struct {
	layer   integer.Layer
	in, out []int
	zero    uint8 // zero point of the input
	after   integer.Scale
	packed  *byteWeights // packed weights, for a matmul
}

// maxActivationBytes is the maximum number of bytes of activations per worker.
const maxActivationBytes = 1 << 18

func newQuantized(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Quantized)
	count, shapes, err := op.Network.Shapes(s.In[0].Shape)
	if err != nil {
		return nil, err
	}
	q := &quantized{in: s.In[0], out: s.Out[0], kernel: d.bytes, interleave: d.kernel.interleaveEight(), network: op.Network, count: count, pixels: 1, size: ir.Len(shapes[0]), bad: make([]int, d.pool.size)}
	if op.Network.Image {
		q.pixels = shapes[0][1] * shapes[0][2]
	}
	scale := op.Network.Input
	for i, l := range op.Network.Layers {
		stage := byteStage{layer: l, in: shapes[i], out: shapes[i+1], zero: scale.Zero, after: scale}
		switch p := l.(type) {
		case *integer.MaxPool:
			q.taps = max(q.taps, p.Kernel[0]*p.Kernel[1])
		case *integer.MatMul:
			q.taps = max(q.taps, p.Kernel[0]*p.Kernel[1])
			q.depth = max(q.depth, p.Depth())
			if p.Output != nil {
				stage.after = *p.Output
			}
			from, to := stage.zero, stage.after
			stage.packed = op.Network.Made(fmt.Sprint(q.kernel.name, " ", i), func() any { return q.kernel.weights(p, from, to) }).(*byteWeights)
		}
		scale = stage.after
		q.stages = append(q.stages, stage)
	}
	for _, shape := range shapes {
		q.largest = max(q.largest, ir.Len(shape))
		if len(shape) == 3 {
			q.row = max(q.row, shape[0]*shape[2])
		}
	}
	q.per = max(1, min(maxActivationBytes/max(q.largest, 1), count))
	if q.pixels == 1 && q.per > maxByteRows {
		q.per = maxByteRows
	}
	// The same number of chunks for each thread.
	chunks := roundUp((count+q.per-1)/q.per, d.pool.size)
	q.per = max(1, (count+chunks-1)/max(chunks, 1))
	counted := &arena{}
	q.take(counted)
	d.reserve(0, counted.used)
	return q, nil
}

// byteWorkspace is a worker's workspace.
type byteWorkspace struct {
	from, to []uint8
	rows     []uint8 // windows as rows
	line     []float32
	offsets  []int
	scratch  byteScratch
}

// spare is the number of bytes after an array that may be read and overwritten.
const spare = 2 * cacheLine

// take splits a worker's workspace.
func (q *quantized) take(r *arena) byteWorkspace {
	return byteWorkspace{
		from:    take[uint8](r, q.per*q.largest+spare+q.row+spare),
		to:      take[uint8](r, q.per*q.largest+spare+q.row+spare),
		rows:    take[uint8](r, maxByteRows*q.depth+spare),
		line:    take[float32](r, max(maxByteRows*q.kernel.columns(), roundUp(q.largest, tapLanes))),
		offsets: take[int](r, q.taps),
		scratch: q.kernel.scratch(r, q.depth),
	}
}

func (q *quantized) run(p *program) error {
	if q.count == 0 {
		return nil
	}
	q.x, q.y, q.arena = elements[float32](p, q.in), elements[float32](p, q.out), p.device.scratch
	for i := range q.bad {
		q.bad[i] = -1
	}
	p.device.pool.run((q.count+q.per-1)/q.per, q)
	x := q.x
	q.x, q.y, q.arena = nil, nil, nil
	for _, at := range q.bad {
		if at >= 0 {
			return firstNotFinite("the input of a quantized layer", x)
		}
	}
	return nil
}

func (q *quantized) work(chunk, worker int) {
	first := chunk * q.per
	n := min(q.per, q.count-first)
	w := q.take(&arena{left: q.arena[worker]})
	if v := q.quantize(w, q.x[first*q.size:][:n*q.size]); math.IsNaN(float64(v)) {
		q.bad[worker] = first
		return
	}
	for i := range q.stages {
		s := &q.stages[i]
		switch l := s.layer.(type) {
		case *integer.MatMul:
			var y []float32
			if l.Output == nil {
				y = q.y[first*ir.Len(s.out):]
			}
			q.product(s, l, w, n, y)
		case *integer.MaxPool:
			q.maxPool(s, l, w, n)
		default:
			continue
		}
		w.from, w.to = w.to, w.from
	}
}

// quantize quantizes examples, images with the channels of a pixel contiguous.
func (q *quantized) quantize(w byteWorkspace, x []float32) (sum float32) {
	scale := q.network.Input
	factor, zero := 1/scale.Step, float32(scale.Zero)
	channels := q.size / max(q.pixels, 1)
	if q.pixels == 1 || channels == 1 {
		return q.kernel.quantize(w.from[:len(x)], x, factor, zero)
	}
	for i := 0; i < len(x); i += q.size {
		sum += q.kernel.quantize(w.to[:q.size], x[i:][:q.size], factor, zero)
		transposeBytes(w.from[i:][:q.size], w.to, channels, q.pixels)
	}
	return sum
}

// transposeBytes transposes [channels, pixels] to [pixels, channels].
func transposeBytes(dst, src []uint8, channels, pixels int) {
	const block = 32 // pixels, whose lines stay in the cache
	for from := 0; from < pixels; from += block {
		to := min(from+block, pixels)
		for c := range channels {
			row := src[c*pixels:][:pixels]
			at := from*channels + c
			for _, v := range row[from:to] {
				dst[at] = v
				at += channels
			}
		}
	}
}

// product computes a layer for n examples: bytes, or floats y in the layout of tensors.
func (q *quantized) product(s *byteStage, p *integer.MatMul, w byteWorkspace, n int, y []float32) {
	if s.packed.taps != nil {
		q.depthwise(s, p, w, n, y)
		return
	}
	positions := 1
	if p.Image {
		positions = s.out[1] * s.out[2]
	}
	each := p.Out / p.Groups
	missing := q.missing(s, p, w)
	for g, weights := range s.packed.groups {
		for top := 0; top < n*positions; top += maxByteRows {
			rows := min(maxByteRows, n*positions-top)
			a, pitch := w.rows, p.Depth()
			if p.Image && !pointwise(p) {
				q.gatherWindows(s, p, w, missing, g, top, rows)
			} else {
				a, pitch = w.from[top*p.In:], p.In
			}
			q.kernel.multiply(weights, a, pitch, rows, &w.scratch, func(j, columns int, sums []int32, width int) {
				q.finish(s, p, w, y, top, rows, g*each+j, columns, sums, width)
			})
		}
	}
}

// finish computes the results of a layer from the sums, for some rows and channels.
func (q *quantized) finish(s *byteStage, p *integer.MatMul, w byteWorkspace, y []float32, top, rows, channel, columns int, sums []int32, width int) {
	k, b := q.kernel, s.packed
	// Whole vectors; their last lanes are overwritten by the next row or never read.
	whole := columns
	if b.taps == nil {
		whole = roundUp(columns, k.lanes)
	}
	offset, factor, bias := b.offset[channel:], b.factor[channel:], b.bias[channel:]
	if y == nil {
		low := float32(0)
		if p.ReLU {
			low = float32(s.after.Zero)
		}
		if columns < p.Out {
			whole = columns // other panels have already been written
		}
		k.requantize(rows, whole, w.to[top*p.Out+channel:], p.Out, sums, width, offset, factor, bias, low)
		return
	}
	low := float32(math.Inf(-1))
	if p.ReLU {
		low = 0
	}
	if !p.Image && whole == columns {
		k.dequantize(rows, columns, y[top*p.Out+channel:], p.Out, sums, width, offset, factor, bias, low)
		return
	}
	k.dequantize(rows, whole, w.line, width, sums, width, offset, factor, bias, low)
	if !p.Image {
		for i := range rows {
			copy(y[(top+i)*p.Out+channel:][:columns], w.line[i*width:])
		}
		return
	}
	positions := s.out[1] * s.out[2]
	for i := 0; i < rows; {
		image, position := (top+i)/positions, (top+i)%positions
		run := min(rows-i, positions-position)
		q.transposeFloats(y[(image*p.Out+channel)*positions+position:], positions, w.line[i*width:], width, run, columns)
		i += run
	}
}

// transposeFloats transposes dst[c*positions+i] = src[i*width+c], for a number of rows i and
// columns c.
func (q *quantized) transposeFloats(dst []float32, positions int, src []float32, width, rows, columns int) {
	if q.interleave == nil || rows < 8 || columns < 8 {
		for c := range columns {
			row := dst[c*positions:][:rows]
			for i := range row {
				row[i] = src[i*width+c]
			}
		}
		return
	}
	// The last block of eight rows or columns may overlap the previous one.
	for i := 0; i < rows; i += 8 {
		i := min(i, rows-8)
		q.interleave(&dst[i], &src[i*width], width, columns/8*8, positions)
		if columns%8 > 0 {
			c := columns - 8
			q.interleave(&dst[c*positions+i], &src[i*width+c], width, 8, positions)
		}
	}
}
