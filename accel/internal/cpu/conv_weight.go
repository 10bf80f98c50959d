package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implementFloat32[ir.Conv2DWeightGradient](newConv2DWeight)

// conv2dWeight is the gradient with respect to w: each element is the dot product of a run
// of dy and a shifted run of x. The batch is split into slices depending on its size alone,
// and the sums of the slices are added in order.
type conv2dWeight struct {
	conv2d
	slices  int
	per     int        // images per slice
	depth3  int        // depth, rounded up to a multiple of three
	partial int        // size of one slice's sums
	sums    *denseSums // not nil if padding is left out
}

// weightOperands returns the operands of a step that computes the gradient of w from x and dy.
func weightOperands(s ir.Step) convOperands {
	return convOperands{argX: s.In[0], argY: s.In[1], argW: s.Out[0]}
}

const (
	weightSlices  = 16      // number of slices that gives every thread work
	weightSums    = 1 << 22 // maximum elements of the sums of all slices
	weightScratch = 1 << 17 // maximum elements of the runs of x and dy in one pass
)

func newConv2DWeight(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Conv2DWeightGradient)
	x, dy := s.In[0].Shape, s.In[1].Shape
	k := &conv2dWeight{conv2d: conv2d{device: d, convOperands: weightOperands(s)}}
	k.planes = newPlanes(op.Conv2D, x[0], x[1], x[2], x[3], dy[1], dy[2], dy[3], op.KH, op.KW)
	if ir.Len(s.Out[0].Shape) == 0 || ir.Len(dy) == 0 {
		return k, nil
	}
	if suitsWinograd(op.Conv2D, &k.planes) {
		return newWinogradWeight(d, s, &k.planes), nil
	}
	if k.isSmall() && smallSums(k.c, k.o) > 0 {
		return newSmallWeight(d, s, &k.planes), nil
	}
	k.kernel = d.shift.forRows(k.out())
	k.depth = k.in() * k.kh * k.kw
	if k.sumsDensely() {
		k.sums = newDenseSums(&k.conv2d)
		return k, nil
	}
	k.depth3 = roundUp(k.depth, 3)
	k.partial = k.groups * roundUp(k.out(), k.kernel.mr) * k.depth3
	k.slices = max(1, min(k.n, weightSlices, weightSums/k.partial))
	k.per = (k.n + k.slices - 1) / k.slices
	k.slices = (k.n + k.per - 1) / k.per
	tiles := (k.out() + k.kernel.mr - 1) / k.kernel.mr
	k.blocks = min(tiles, max(1, weightSlices/(k.slices*k.groups)))
	k.rows = (tiles + k.blocks - 1) / k.blocks * k.kernel.mr
	k.blocks = (k.out() + k.rows - 1) / k.rows
	k.images = max(1, min(k.per, weightScratch/((k.in()*k.phases+k.rows)*k.image)))
	k.used, k.whole = k.span(k.images, d.shift.lanes)
	k.offsets = make([]int, k.depth3)
	for i := range k.depth {
		c, t := i/len(k.shift), i%len(k.shift)
		k.offsets[i] = k.runOffset(c, t, k.whole)
	}
	if k.patches = newPatches(&k.conv2d, k.depth3); k.patches != nil {
		d.reserve(k.partial*k.slices, k.patches.size()+k.rows*k.oh*k.ow+windowLen)
		return k, nil
	}
	d.reserve(k.partial*k.slices, k.in()*k.phases*k.whole+k.rows*k.used)
	return k, nil
}

func (k *conv2dWeight) run(p *program) error {
	k.bind(p)
	switch {
	case len(k.dataY) == 0:
		clear(k.dataW)
	case k.sums != nil:
		p.device.pool.run(k.groups*k.sums.blocks*k.sums.tops, k.sums)
	case len(k.dataW) > 0:
		p.device.pool.run(k.slices*k.groups*k.blocks, k)
		p.device.pool.each(k.groups*k.blocks, func(chunk, _ int) {
			from := chunk % k.blocks * k.rows
			k.add(chunk/k.blocks, from, min(k.rows, k.out()-from))
		})
	}
	k.release()
	return nil
}

func (k *conv2dWeight) work(chunk, worker int) {
	block, group, slice := chunk%k.blocks, chunk/k.blocks%k.groups, chunk/k.blocks/k.groups
	from := block * k.rows
	rows := min(k.rows, k.out()-from)
	scratch := k.device.scratch[worker]
	if k.patches != nil {
		sums := k.partialSums(slice, group, from)[:rows*k.depth3]
		clear(sums)
		for i := slice * k.per; i < min((slice+1)*k.per, k.n); i++ {
			k.patches.lay(scratch, i)
			k.patches.sums(sums, scratch, i, from, rows, k.depth3)
		}
		return
	}
	runs := scratch[:k.in()*k.phases*k.whole]
	outputs := scratch[len(runs):][:k.rows*k.used]
	clear(outputs[rows*k.used:]) // rows of a tile beyond the last channel
	sums := k.partialSums(slice, group, from)[:roundUp(rows, k.kernel.mr)*k.depth3]
	clear(sums)
	end := min((slice+1)*k.per, k.n)
	for first := slice * k.per; first < end; first += k.images {
		images := min(k.images, end-first)
		k.spread(k.device, runs, k.dataX, first, images, group*k.in(), (group+1)*k.in(), k.whole)
		k.spreadOutputs(k.device, outputs, k.dataY, first, images, group*k.out()+from, group*k.out()+from+rows, 0, k.used)
		length := roundUp(images*k.image, k.device.shift.lanes)
		for j := 0; j < k.depth3; j += 3 {
			for i := 0; i < rows; i += k.kernel.mr {
				k.kernel.dots(length, &outputs[i*k.used], k.used, &runs[0], &k.offsets[j], &sums[i*k.depth3+j], k.depth3)
			}
		}
	}
}

// partialSums returns the sums of one slice for the rows of one group, starting at a row.
func (k *conv2dWeight) partialSums(slice, group, from int) []float32 {
	at := slice*k.partial + (group*roundUp(k.out(), k.kernel.mr)+from)*k.depth3
	return k.device.panel[at:]
}

func (k *conv2dWeight) add(group, from, rows int) {
	for r := from; r < from+rows; r++ {
		w := k.dataW[(group*k.out()+r)*k.depth:][:k.depth]
		copy(w, k.partialSums(0, group, r))
		for s := 1; s < k.slices; s++ {
			k.device.vectors.add(w, w, k.partialSums(s, group, r)[:k.depth])
		}
	}
}
