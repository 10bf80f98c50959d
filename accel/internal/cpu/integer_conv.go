package cpu

import (
	"github.com/quernlab/quern/accel/internal/engine/integer"
)

// tapLanes is the maximum number of channels of a vector in tapSums.
const tapLanes = 8

// depthwise reports whether each channel has its own output.
func depthwise(p *integer.MatMul) bool {
	return p.Image && p.Groups > 1 && p.Groups == p.In && p.In == p.Out
}

// missing returns the offset of a row of padding pixels.
func (q *quantized) missing(s *byteStage, p *integer.MatMul, w byteWorkspace) int {
	at := q.per*q.largest + spare
	if p.Image && p.Padding != [2]int{} {
		fillBytes(w.from[at:][:s.in[2]*p.In+spare], s.zero)
	}
	return at
}

// pointwise reports whether the windows of a convolution are single pixels.
func pointwise(p *integer.MatMul) bool {
	return p.Kernel == [2]int{1, 1} && p.Stride == [2]int{1, 1} && p.Padding == [2]int{} && p.Groups == 1
}

// gatherWindows copies the inputs of windows, starting at top, for the channels of a group.
func (q *quantized) gatherWindows(s *byteStage, p *integer.MatMul, w byteWorkspace, missing, group, top, rows int) {
	height, width, across := s.in[1], s.in[2], s.out[2]
	positions := s.out[1] * across
	channels := p.In / p.Groups
	dst := w.rows
	for i := 0; i < rows; {
		image, position := (top+i)/positions, (top+i)%positions
		y0, x0 := position/across*p.Stride[0]-p.Padding[0], position%across*p.Stride[1]-p.Padding[1]
		line := func(ky int) int { // offset of a row of pixels
			y := y0 + ky*p.Dilation[0]
			if y < 0 || y >= height {
				return -1
			}
			return (image*height + y) * width * p.In
		}
		if p.Groups == 1 && p.Dilation[1] == 1 && x0 >= 0 && x0+p.Kernel[1] <= width {
			// As many windows of this output row as are within the image.
			count := min(rows-i, across-position%across, (width-p.Kernel[1]-x0)/p.Stride[1]+1)
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

// depthwise computes a convolution of each channel on its own: all channels of a window at once.
func (q *quantized) depthwise(s *byteStage, p *integer.MatMul, w byteWorkspace, n int, y []float32) {
	height, width, across := s.in[1], s.in[2], s.out[2]
	positions, pitch := s.out[1]*across, s.packed.pitch
	missing := q.missing(s, p, w)
	offsets := w.offsets[:p.Kernel[0]*p.Kernel[1]]
	block := max(1, min(maxByteRows, len(w.scratch.sums)/pitch))
	sums := w.scratch.sums
	if block*pitch > len(sums) {
		sums = make([]int32, pitch) // for very many channels
	}
	for top := 0; top < n*positions; top += block {
		rows := min(block, n*positions-top)
		for i := range rows {
			image, position := (top+i)/positions, (top+i)%positions
			y0, x0 := position/across*p.Stride[0]-p.Padding[0], position%across*p.Stride[1]-p.Padding[1]
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

// maxPool computes max pooling for n images.
func (q *quantized) maxPool(s *byteStage, p *integer.MaxPool, w byteWorkspace, n int) {
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
				if len(offsets) == 0 { // the window is in the padding
					clear(dst[:channels])
				} else {
					q.kernel.largest(dst[:channels], w.from, offsets)
				}
				dst = dst[channels:]
			}
		}
	}
}
