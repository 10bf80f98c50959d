package cpu

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/integer"
	"github.com/quernlab/quern/accel/internal/ir"
)

// quantized runs a network of bytes: each worker takes some examples through all
// layers, so that what is in between stays in its cache.
type quantized struct {
	in, out ir.Operand
	kernel  *byteKernel
	network *integer.Network
	stages  []byteStage
	count   int                                    // examples
	per     int                                    // of them in a chunk
	pixels  int                                    // of an image of the input; 1 for rows
	size    int                                    // elements of an example of the input
	largest int                                    // elements of an example at most, of all layers
	depth   int                                    // of the deepest product
	row     int                                    // bytes of a row of pixels at most, that are not there
	taps    int                                    // of the largest window
	turn    func(dst, src *float32, row, k, w int) // see gemmKernel.interleave; may be nil

	x, y []float32
	bad  []int // by worker: where an input is not finite, or -1
	room [][]float32
}

// byteStage is a layer with the shapes of its input and output, [C, H, W] or [In].
type byteStage struct {
	layer   integer.Layer
	in, out []int
	zero    uint8 // of the input
	after   integer.Scale
	packed  *byteWeights // of a product
}

// byteWeights are what a kernel makes of a product's weights.
type byteWeights struct {
	groups []packedBytes
	taps   []int32 // [kernel, channels] of a depthwise convolution, each row whole vectors
	pitch  int     // of taps
	offset []int32
	factor []float32
	bias   []float32
}

// examplesRoom is how many bytes of activations a worker may hold at once.
const examplesRoom = 1 << 18

func newQuantized(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Quantized)
	count, shapes, err := op.Network.Shapes(s.In[0].Shape)
	if err != nil {
		return nil, err
	}
	q := &quantized{in: s.In[0], out: s.Out[0], kernel: d.bytes, turn: d.kernel.interleave, network: op.Network, count: count, pixels: 1, size: ir.Len(shapes[0]), bad: make([]int, d.pool.size)}
	if op.Network.Image {
		q.pixels = shapes[0][1] * shapes[0][2]
	}
	scale := op.Network.Input
	for i, l := range op.Network.Layers {
		stage := byteStage{layer: l, in: shapes[i], out: shapes[i+1], zero: scale.Zero, after: scale}
		switch p := l.(type) {
		case *integer.MaxPool:
			q.taps = max(q.taps, p.Kernel[0]*p.Kernel[1])
		case *integer.Product:
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
	q.per = max(1, min(examplesRoom/max(q.largest, 1), count))
	if q.pixels == 1 && q.per > maxByteRows {
		q.per = maxByteRows
	}
	// As many chunks for each thread.
	chunks := roundUp((count+q.per-1)/q.per, d.pool.size)
	q.per = max(1, (count+chunks-1)/max(chunks, 1))
	counted := &room{}
	q.take(counted)
	d.reserve(0, counted.used)
	return q, nil
}

// weights packs a product's, for an input of this zero and an output of this scale.
func (k *byteKernel) weights(p *integer.Product, zero uint8, after integer.Scale) *byteWeights {
	padded := p.Out + 2*k.lanes // whole vectors may be read from any output on
	w := &byteWeights{offset: make([]int32, padded), factor: make([]float32, padded), bias: make([]float32, padded)}
	for o, sum := range sumsOf(p.Weight, p.Depth()) {
		w.offset[o] = -int32(zero) * sum
		w.factor[o], w.bias[o] = p.Factor[o], p.Bias[o]
		if p.Output != nil {
			w.factor[o] = p.Factor[o] / after.Step
			w.bias[o] = p.Bias[o]/after.Step + float32(after.Zero)
		}
	}
	if depthwise(p) {
		taps := p.Depth()
		w.pitch = roundUp(p.Out, tapLanes)
		w.taps = make([]int32, taps*w.pitch)
		for o := range p.Out {
			for t := range taps {
				w.taps[t*w.pitch+o] = int32(p.Weight[o*taps+t])
			}
		}
		return w
	}
	each := p.Out / p.Groups
	for g := range p.Groups {
		w.groups = append(w.groups, packedBytes{each, p.Depth(), k.pack(p.Weight[g*each*p.Depth():], each, p.Depth())})
	}
	return w
}

// tapLanes is how many channels a vector of tapSums has at most.
const tapLanes = 8

// depthwise tells whether each channel has an output of its own.
func depthwise(p *integer.Product) bool {
	return p.Image && p.Groups > 1 && p.Groups == p.In && p.In == p.Out
}

// byteRoom is the memory of a worker.
type byteRoom struct {
	from, to []uint8
	rows     []uint8 // windows as rows
	line     []float32
	offsets  []int
	scratch  byteScratch
}

// spare is what may be read, and overwritten, behind bytes.
const spare = 2 * cacheLine

// take divides a worker's memory.
func (q *quantized) take(r *room) byteRoom {
	return byteRoom{
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
	q.x, q.y, q.room = elements[float32](p, q.in), elements[float32](p, q.out), p.device.scratch
	for i := range q.bad {
		q.bad[i] = -1
	}
	p.device.pool.run((q.count+q.per-1)/q.per, q)
	x := q.x
	q.x, q.y, q.room = nil, nil, nil
	for _, at := range q.bad {
		if at >= 0 {
			return firstNotFinite("the input of a quantised layer", x)
		}
	}
	return nil
}

func (q *quantized) work(chunk, worker int) {
	first := chunk * q.per
	n := min(q.per, q.count-first)
	w := q.take(&room{left: q.room[worker]})
	if v := q.quantise(w, q.x[first*q.size:][:n*q.size]); math.IsNaN(float64(v)) {
		q.bad[worker] = first
		return
	}
	for i := range q.stages {
		s := &q.stages[i]
		switch l := s.layer.(type) {
		case *integer.Product:
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

// quantise makes bytes of examples, images with the channels of a pixel together.
func (q *quantized) quantise(w byteRoom, x []float32) (sum float32) {
	scale := q.network.Input
	factor, zero := 1/scale.Step, float32(scale.Zero)
	channels := q.size / max(q.pixels, 1)
	if q.pixels == 1 || channels == 1 {
		return q.kernel.quantise(w.from[:len(x)], x, factor, zero)
	}
	for i := 0; i < len(x); i += q.size {
		sum += q.kernel.quantise(w.to[:q.size], x[i:][:q.size], factor, zero)
		turnBytes(w.from[i:][:q.size], w.to, channels, q.pixels)
	}
	return sum
}

// turnBytes writes [pixels, channels] from [channels, pixels].
func turnBytes(dst, src []uint8, channels, pixels int) {
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

// product is a layer for n examples: bytes, or floats y in the tensors' layout.
func (q *quantized) product(s *byteStage, p *integer.Product, w byteRoom, n int, y []float32) {
	if s.packed.taps != nil {
		q.depthwise(s, p, w, n, y)
		return
	}
	places := 1
	if p.Image {
		places = s.out[1] * s.out[2]
	}
	each := p.Out / p.Groups
	missing := q.missing(s, p, w)
	for g, weights := range s.packed.groups {
		for top := 0; top < n*places; top += maxByteRows {
			rows := min(maxByteRows, n*places-top)
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

// missing is where the bytes lie of a row of pixels outside of the image.
func (q *quantized) missing(s *byteStage, p *integer.Product, w byteRoom) int {
	at := q.per*q.largest + spare
	if p.Image && p.Padding != [2]int{} {
		fillBytes(w.from[at:][:s.in[2]*p.In+spare], s.zero)
	}
	return at
}

// pointwise tells whether the windows of a convolution are its pixels.
func pointwise(p *integer.Product) bool {
	return p.Kernel == [2]int{1, 1} && p.Stride == [2]int{1, 1} && p.Padding == [2]int{} && p.Groups == 1
}

// finish makes of sums what the layer gives, for some rows and channels.
func (q *quantized) finish(s *byteStage, p *integer.Product, w byteRoom, y []float32, top, rows, channel, columns int, sums []int32, width int) {
	k, b := q.kernel, s.packed
	// Whole vectors, whose last lanes are written over by the next row or never read.
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
			whole = columns // other panels are written already
		}
		k.requantise(rows, whole, w.to[top*p.Out+channel:], p.Out, sums, width, offset, factor, bias, low)
		return
	}
	low := float32(math.Inf(-1))
	if p.ReLU {
		low = 0
	}
	if !p.Image && whole == columns {
		k.dequantise(rows, columns, y[top*p.Out+channel:], p.Out, sums, width, offset, factor, bias, low)
		return
	}
	k.dequantise(rows, whole, w.line, width, sums, width, offset, factor, bias, low)
	if !p.Image {
		for i := range rows {
			copy(y[(top+i)*p.Out+channel:][:columns], w.line[i*width:])
		}
		return
	}
	places := s.out[1] * s.out[2]
	for i := 0; i < rows; {
		image, place := (top+i)/places, (top+i)%places
		run := min(rows-i, places-place)
		q.turnFloats(y[(image*p.Out+channel)*places+place:], places, w.line[i*width:], width, run, columns)
		i += run
	}
}

// turnFloats writes dst[c*places+i] from src[i*width+c], for so many rows i and columns
// c.
func (q *quantized) turnFloats(dst []float32, places int, src []float32, width, rows, columns int) {
	if q.turn == nil || rows < 8 || columns < 8 {
		for c := range columns {
			row := dst[c*places:][:rows]
			for i := range row {
				row[i] = src[i*width+c]
			}
		}
		return
	}
	// The last eight rows, and columns, may be some of those before them.
	for i := 0; i < rows; i += 8 {
		i := min(i, rows-8)
		q.turn(&dst[i], &src[i*width], width, columns/8*8, places)
		if columns%8 > 0 {
			c := columns - 8
			q.turn(&dst[c*places+i], &src[i*width+c], width, 8, places)
		}
	}
}

// gatherWindows writes what rows windows from top on see of the channels of a group.
func (q *quantized) gatherWindows(s *byteStage, p *integer.Product, w byteRoom, missing, group, top, rows int) {
	height, width, across := s.in[1], s.in[2], s.out[2]
	places := s.out[1] * across
	channels := p.In / p.Groups
	dst := w.rows
	for i := 0; i < rows; {
		image, place := (top+i)/places, (top+i)%places
		y0, x0 := place/across*p.Stride[0]-p.Padding[0], place%across*p.Stride[1]-p.Padding[1]
		line := func(ky int) int { // where a row of pixels begins
			y := y0 + ky*p.Dilation[0]
			if y < 0 || y >= height {
				return -1
			}
			return (image*height + y) * width * p.In
		}
		if p.Groups == 1 && p.Dilation[1] == 1 && x0 >= 0 && x0+p.Kernel[1] <= width {
			// As many windows of this row of the output as lie within the image.
			count := min(rows-i, across-place%across, (width-p.Kernel[1]-x0)/p.Stride[1]+1)
			offsets := w.offsets[:p.Kernel[0]]
			for ky := range offsets {
				if offsets[ky] = missing; line(ky) >= 0 {
					offsets[ky] = line(ky) + x0*p.In
				}
			}
			q.kernel.gather(count, p.Kernel[1]*p.In, dst, w.from, offsets, p.Stride[1]*p.In)
			dst = dst[count*p.Depth():]
			i += count
			continue
		}
		for ky := range p.Kernel[0] {
			from := line(ky)
			for kx := range p.Kernel[1] {
				if x := x0 + kx*p.Dilation[1]; from < 0 || x < 0 || x >= width {
					fillBytes(dst[:channels], s.zero)
				} else {
					copy(dst[:channels], w.from[from+x*p.In+group*channels:])
				}
				dst = dst[channels:]
			}
		}
		i++
	}
}

func fillBytes(b []uint8, v uint8) {
	for i := range b {
		b[i] = v
	}
}

// depthwise is a convolution of each channel on its own: all channels of a window at
// once.
func (q *quantized) depthwise(s *byteStage, p *integer.Product, w byteRoom, n int, y []float32) {
	height, width, across := s.in[1], s.in[2], s.out[2]
	places, pitch := s.out[1]*across, s.packed.pitch
	missing := q.missing(s, p, w)
	offsets := w.offsets[:p.Kernel[0]*p.Kernel[1]]
	block := max(1, min(maxByteRows, len(w.scratch.sums)/pitch))
	sums := w.scratch.sums
	if block*pitch > len(sums) {
		sums = make([]int32, pitch) // of very many channels
	}
	for top := 0; top < n*places; top += block {
		rows := min(block, n*places-top)
		for i := range rows {
			image, place := (top+i)/places, (top+i)%places
			y0, x0 := place/across*p.Stride[0]-p.Padding[0], place%across*p.Stride[1]-p.Padding[1]
			for t := range offsets {
				offsets[t] = missing
				r, c := y0+t/p.Kernel[1]*p.Dilation[0], x0+t%p.Kernel[1]*p.Dilation[1]
				if r >= 0 && r < height && c >= 0 && c < width {
					offsets[t] = ((image*height+r)*width + c) * p.In
				}
			}
			q.kernel.tapSums(sums[i*pitch:][:p.Out], w.from, offsets, s.packed.taps, pitch)
		}
		for from := 0; from < p.Out; from += q.kernel.columns() { // which the floats of a line are
			columns := min(q.kernel.columns(), p.Out-from)
			q.finish(s, p, w, y, top, rows, from, columns, sums[from:], pitch)
		}
	}
}

// maxPool is for n images.
func (q *quantized) maxPool(s *byteStage, p *integer.MaxPool, w byteRoom, n int) {
	channels, height, width := s.in[0], s.in[1], s.in[2]
	dst := w.to
	for image := range n {
		for oy := range s.out[1] {
			for ox := range s.out[2] {
				offsets := w.offsets[:0]
				for ky := range p.Kernel[0] {
					y := oy*p.Stride[0] - p.Padding[0] + ky*p.Dilation[0]
					if y < 0 || y >= height {
						continue
					}
					for kx := range p.Kernel[1] {
						if x := ox*p.Stride[1] - p.Padding[1] + kx*p.Dilation[1]; x >= 0 && x < width {
							offsets = append(offsets, ((image*height+y)*width+x)*channels)
						}
					}
				}
				if len(offsets) == 0 { // a window in the padding
					clear(dst[:channels])
				} else {
					q.kernel.largest(dst[:channels], w.from, offsets)
				}
				dst = dst[channels:]
			}
		}
	}
}
