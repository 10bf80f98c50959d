package cpu

// Convolutions with few input channels, such as the first ones of networks: for all results
// of an image, the elements under each kernel element are few enough to be copied to
// contiguous rows (im2col). Then the matmul works on rows of results as they are in y and
// dy, without padding.

// patchDepth is the maximum number of kernel elements per output channel.
const patchDepth = 32

// patches are the rows of image elements under each kernel element.
type patches struct {
	*conv2d
	area, row int   // number of results, and stride of the rows
	offsets   []int // offsets of the rows, one per kernel element
}

// newPatches returns nil if patches do not suit the convolution.
func newPatches(k *conv2d, depth int) *patches {
	area := k.oh * k.ow
	if k.groups != 1 || k.dense != nil || k.depth == 0 || k.depth > patchDepth || k.out()%k.kernel.mr != 0 || area < k.kernel.nr {
		return nil
	}
	p := &patches{conv2d: k, area: area, row: roundUp(area, k.device.shift.lanes)}
	for i := range depth {
		p.offsets = append(p.offsets, min(i, k.depth-1)*p.row)
	}
	_, k.whole = k.span(1, windowLen)
	return p
}

// size returns the size of the workspace for patches and the image's runs.
func (p *patches) size() int { return p.depth*p.row + p.c*p.phases*p.whole }

// lay writes the patches of an image to the start of the workspace.
func (p *patches) lay(workspace []float32, image int) {
	rows, runs := workspace[:p.depth*p.row], workspace[p.depth*p.row:p.size()]
	p.spread(p.device, runs, p.dataX, image, 1, 0, p.c, p.whole)
	for i := range p.depth {
		c, t := i/len(p.shift), i%len(p.shift)
		row := rows[i*p.row:][:p.row]
		from := runs[p.runOffset(c, t, p.whole):]
		p.device.copyGrid(grid{row, p.ow, 1}, grid{from, p.pitch, 1}, p.oh, p.ow)
		clear(row[p.area:])
	}
}

// results computes the results of an image in place.
func (p *patches) results(workspace []float32, image int) {
	k := p.kernel
	y := p.dataY[image*p.o*p.area:][:p.o*p.area]
	for o := 0; o < p.o; o += k.mr {
		panel := &p.device.panel[o*p.depth]
		for j := 0; j < p.area; j += k.nr {
			j = min(j, p.area-k.nr) // the last tile computes some columns again
			k.tile(p.depth, panel, &workspace[j], &p.offsets[0], &y[o*p.area+j], p.area, 0)
		}
	}
	for o := range p.o {
		p.device.shift.biasRows(1, p.area, &y[o*p.area], 0, &y[o*p.area], 0, p.biasOf(o), p.low)
	}
}

// sums adds an image's part of the gradient of some rows of w.
func (p *patches) sums(sums, workspace []float32, image, from, rows, ldc int) {
	dy := p.dataY[(image*p.o+from)*p.area:]
	if need := rows*p.area + p.row - p.area; len(dy) < need { // the matmul reads whole vectors
		whole := workspace[p.size():][:need]
		clear(whole[copy(whole, dy):])
		dy = whole
	}
	for j := 0; j < len(p.offsets); j += 3 {
		for i := 0; i < rows; i += p.kernel.mr {
			p.kernel.dots(p.row, &dy[i*p.area], p.area, &workspace[0], &p.offsets[j], &sums[i*ldc+j], ldc)
		}
	}
}
