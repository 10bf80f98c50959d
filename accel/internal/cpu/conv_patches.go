package cpu

// Convolutions of few channels, as the first ones of networks are: the elements that
// one element of the kernel meets, over all results of an image, are few enough to
// be laid out beside each other. So products are of rows of results as they lie in
// y and dy, without a pitch.

// patchDepth bounds the elements of a kernel of one output channel.
const patchDepth = 32

// patches are the rows of an image that elements of the kernel meet.
type patches struct {
	*conv2d
	area, row int   // results, and elements from one row to the next
	offsets   []int // of the rows, one for each element of the kernel
}

// newPatches is nil where they do not serve.
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

// size is the room for patches and for the image's runs.
func (p *patches) size() int { return p.depth*p.row + p.c*p.phases*p.whole }

// lay writes the patches of an image into the first part of the room.
func (p *patches) lay(room []float32, image int) {
	rows, runs := room[:p.depth*p.row], room[p.depth*p.row:p.size()]
	p.spread(p.device, runs, p.dataX, image, 1, 0, p.c, p.whole)
	for i := range p.depth {
		c, t := i/len(p.shift), i%len(p.shift)
		row := rows[i*p.row:][:p.row]
		from := runs[(c*p.phases+p.phase[t])*p.whole+p.shift[t]:]
		p.device.copyGrid(grid{row, p.ow, 1}, grid{from, p.pitch, 1}, p.oh, p.ow)
		clear(row[p.area:])
	}
}

// results computes the results of an image in their places.
func (p *patches) results(room []float32, image int) {
	k := p.kernel
	y := p.dataY[image*p.o*p.area:][:p.o*p.area]
	for o := 0; o < p.o; o += k.mr {
		panel := &p.device.panel[o*p.depth]
		for j := 0; j < p.area; j += k.nr {
			j = min(j, p.area-k.nr) // the last tile does some columns once more
			k.tile(p.depth, panel, &room[j], &p.offsets[0], &y[o*p.area+j], p.area, 0)
		}
	}
	for o := range p.o {
		p.device.shift.biasRows(1, p.area, &y[o*p.area], 0, &y[o*p.area], 0, p.bias(o), p.low)
	}
}

// sums adds an image's part of the gradient of some rows of the kernel.
func (p *patches) sums(sums, room []float32, image, from, rows, ldc int) {
	dy := p.dataY[(image*p.o+from)*p.area:]
	if need := rows*p.area + p.row - p.area; len(dy) < need { // products read as far as whole vectors
		whole := room[p.size():][:need]
		clear(whole[copy(whole, dy):])
		dy = whole
	}
	for j := 0; j < len(p.offsets); j += 3 {
		for i := 0; i < rows; i += p.kernel.mr {
			p.kernel.dots(p.row, &dy[i*p.area], p.area, &room[0], &p.offsets[j], &sums[i*ldc+j], ldc)
		}
	}
}
