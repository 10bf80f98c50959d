package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implementFloat32[ir.Conv2DInputGradient](newConv2DInput)

// conv2dInput is the gradient with respect to x. Elements that the convolution reads with a
// shift are written here with the opposite shift: each run of x is the transposed w times
// the runs of dy.
type conv2dInput struct {
	conv2d
	taps    [][]int // kernel elements that read each phase
	offsets [][]int // for each phase: (o, tap) → shift in dy's runs
	starts  []int   // where each phase's panels start within a group's
	lead    int
}

func newConv2DInput(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Conv2DInputGradient)
	dy, w, x := s.In[0].Shape, s.In[1].Shape, s.Out[0].Shape
	k := &conv2dInput{conv2d: conv2d{device: d, convOperands: convOperands{argX: s.Out[0], argW: s.In[1], argY: s.In[0]}}}
	k.planes = newPlanes(op.Conv2D, x[0], x[1], x[2], x[3], dy[1], dy[2], dy[3], w[2], w[3])
	if ir.Len(x) == 0 {
		return k, nil
	}
	if suitsWinograd(op.Conv2D, &k.planes) || suitsWinogradFew(op.Conv2D, &k.planes) {
		return newWinogradInput(d, s, &k.planes), nil
	}
	if k.isSmall() {
		return newSmallConv(d, s, &k.planes, true), nil
	}
	k.kernel = d.shift.forRows(k.in())
	if k.leaveOut(k.in(), k.out()*k.kh*k.kw/k.phases) {
		k.divideDense(k.in(), k.h*k.w/(k.stride[0]*k.stride[1]))
	} else {
		k.divide(k.out(), k.in(), k.groups)
	}
	k.lead = roundUp(k.reach, 16)
	k.whole = k.used + k.lead
	k.taps, k.offsets, k.starts = make([][]int, k.phases), make([][]int, k.phases), make([]int, k.phases)
	for t, p := range k.phase {
		k.taps[p] = append(k.taps[p], t)
	}
	deepest := 0
	for p, taps := range k.taps {
		k.starts[p] = k.packed
		deepest = max(deepest, k.out()*len(taps))
		for o := range k.out() {
			for _, t := range taps {
				k.offsets[p] = append(k.offsets[p], o*k.whole+k.lead-k.shift[t])
			}
		}
		k.packed += roundUp(k.in(), k.kernel.mr) * len(k.offsets[p])
	}
	workspace := roundUp(k.rows, k.kernel.mr) * k.used
	if k.dense != nil {
		for p := range k.phases {
			k.dense[p] = newColumns(k.positions(p), k.images, d.kernel.nr)
		}
		workspace = k.denseWorkspace(deepest)
	}
	d.reserve(k.packed*k.groups, k.out()*k.whole+workspace)
	return k, nil
}

func (k *conv2dInput) run(p *program) error {
	k.bind(p)
	if len(k.dataX) > 0 {
		p.device.pool.each(k.groups*k.tiles(), func(chunk, _ int) { k.pack(chunk/k.tiles(), chunk%k.tiles()) })
		p.device.pool.run(k.chunksOfBatch*k.groups*k.blocks, k)
	}
	k.release()
	return nil
}

func (k *conv2dInput) work(chunk, worker int) {
	block, group, first := chunk%k.blocks, chunk/k.blocks%k.groups, chunk/k.blocks/k.groups*k.images
	images := min(k.images, k.n-first)
	scratch := k.device.scratch[worker]
	runs := scratch[:k.out()*k.whole]
	k.spreadOutputs(k.device, runs, k.dataY, first, images, group*k.out(), (group+1)*k.out(), k.lead, k.whole)
	from := block * k.rows
	rows := min(k.rows, k.in()-from)
	result := scratch[len(runs):]
	if k.phases < k.stride[0]*k.stride[1] { // the convolution does not read every element of x
		for i := range images {
			clear(k.dataX[((first+i)*k.c+group*k.in()+from)*k.h*k.w:][:rows*k.h*k.w])
		}
	}
	for p, offsets := range k.offsets {
		panel := k.device.panel[group*k.packed+k.starts[p]+from*len(offsets):]
		if k.dense != nil {
			k.storeDense(p, group*k.in()+from, first, images, rows, panel, runs, result)
			continue
		}
		product(k.kernel, panel, runs, offsets, result, rows, roundUp(images*k.image, k.kernel.nr), k.used)
		for r := range rows {
			c := group*k.in() + from + r
			for i := range images {
				x := k.dataX[((first+i)*k.c+c)*k.h*k.w:][:k.h*k.w]
				image, spread, h, w := k.grids(x, result[r*k.used+i*k.image:], p)
				k.device.copyGrid(image, spread, h, w)
			}
		}
	}
}

// storeDense computes one phase and stores the results in x.
func (k *conv2dInput) storeDense(phase, channel, first, images, rows int, panel, runs, workspace []float32) {
	c := &k.dense[phase]
	k.denseProduct(c, panel, runs, k.offsets[phase], rows, images*c.count(), workspace, func(r, image, at int, part []float32) {
		x := k.dataX[((first+image)*k.c+channel+r)*k.h*k.w:][:k.h*k.w]
		if !k.strided() {
			copy(x[at:], part)
			return
		}
		_, iy, _ := firstPosition(k.h, k.padding[0], k.stride[0], k.remainders[phase][0])
		_, ix, _ := firstPosition(k.w, k.padding[1], k.stride[1], k.remainders[phase][1])
		for i, v := range part {
			row, col := (at+i)/c.cols, (at+i)%c.cols
			x[(iy+row*k.stride[0])*k.w+ix+col*k.stride[1]] = v
		}
	})
}

// positions returns the positions of a phase that hold elements of x.
func (g *planes) positions(phase int) positions {
	y0, _, rows := firstPosition(g.h, g.padding[0], g.stride[0], g.remainders[phase][0])
	x0, _, cols := firstPosition(g.w, g.padding[1], g.stride[1], g.remainders[phase][1])
	return positions{y0*g.pitch + x0, max(rows, 0), max(cols, 0), g.pitch, g.image}
}

// tiles returns the number of panels of one group.
func (k *conv2dInput) tiles() int {
	if k.dense != nil {
		rows := min(k.rows, k.in())
		return k.device.kernel.panels(rows) * k.blocks
	}
	return (k.in() + k.kernel.mr - 1) / k.kernel.mr
}

// panel returns the rows that a tile packs.
func (k *conv2dInput) panel(tile int) (from, to int) {
	if k.dense == nil {
		return tile * k.kernel.mr, min((tile+1)*k.kernel.mr, k.in())
	}
	panels := k.tiles() / k.blocks
	block := tile / panels * k.rows
	rows := min(k.rows, k.in()-block)
	p, n := tile%panels, k.device.kernel.panels(rows)
	if p >= n {
		return block, block // a shorter block has fewer panels
	}
	return block + panelTop(rows, n, p), block + panelTop(rows, n, p+1)
}

// pack writes one tile's panel for each phase. Rows are input channels; the depth is output
// channels by kernel elements.
func (k *conv2dInput) pack(group, tile int) {
	area := k.kh * k.kw
	from, to := k.panel(tile)
	rows, mr := to-from, k.kernel.mr
	if k.dense != nil {
		mr = rows
	}
	w := k.dataW[group*k.out()*k.in()*area:]
	for p, taps := range k.taps {
		depth := len(k.offsets[p])
		panel := k.device.panel[group*k.packed+k.starts[p]+from*depth:][:mr*depth]
		if rows < mr {
			clear(panel)
		}
		for o := range k.out() {
			at := panel[o*len(taps)*mr:]
			if src := w[(o*k.in()+from)*area:]; len(taps) == area {
				k.device.kernel.packPanel(at[:area*mr], src, area, 1, rows, area, mr)
				continue
			}
			for i, t := range taps {
				for r := range rows {
					at[i*mr+r] = w[(o*k.in()+from+r)*area+t]
				}
			}
		}
	}
}
