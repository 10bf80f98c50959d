package cpu

import "github.com/quernlab/quern/accel/internal/ir"

// conv2dInput is the gradient with respect to x. What the convolution reads
// shifted by an element's place is here written shifted the other way: each run
// of x is the product of w, turned, with the runs of dy.
type conv2dInput struct {
	conv2d
	taps    [][]int // elements of the kernel that read each phase
	offsets [][]int // for each phase: (o, tap) → shift in dy's runs
	starts  []int   // where each phase's panels start within a group's
	lead    int
}

func newConv2DInput(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Conv2DInputGradient)
	dy, w, x := s.In[0].Shape, s.In[1].Shape, s.Out[0].Shape
	k := &conv2dInput{conv2d: conv2d{device: d, argX: s.Out[0], argW: s.In[1], argY: s.In[0]}}
	k.planes = newPlanes(op.Conv2D, x[0], x[1], x[2], x[3], dy[1], dy[2], dy[3], w[2], w[3])
	if ir.Len(x) == 0 {
		return k, nil
	}
	k.kernel = d.shift.forRows(k.in())
	k.divide(k.out(), k.in(), k.groups)
	k.lead = roundUp(k.reach, 16)
	k.whole = k.used + k.lead
	k.taps, k.offsets, k.starts = make([][]int, k.phases), make([][]int, k.phases), make([]int, k.phases)
	for t, p := range k.phase {
		k.taps[p] = append(k.taps[p], t)
	}
	for p, taps := range k.taps {
		k.starts[p] = k.packed
		for o := range k.out() {
			for _, t := range taps {
				k.offsets[p] = append(k.offsets[p], o*k.whole+k.lead-k.shift[t])
			}
		}
		k.packed += roundUp(k.in(), k.kernel.mr) * len(k.offsets[p])
	}
	d.reserve(k.packed*k.groups, k.out()*k.whole+roundUp(k.rows, k.kernel.mr)*k.used)
	return k, nil
}

func (k *conv2dInput) run(p *program) error {
	k.dataX, k.dataW, k.dataY = elements[float32](p, k.argX), elements[float32](p, k.argW), elements[float32](p, k.argY)
	if len(k.dataX) > 0 {
		k.packing = true
		p.device.pool.run(k.groups*((k.in()+k.kernel.mr-1)/k.kernel.mr), k)
		k.packing = false
		p.device.pool.run(k.chunksOfBatch*k.groups*k.blocks, k)
	}
	k.dataX, k.dataW, k.dataY = nil, nil, nil
	return nil
}

func (k *conv2dInput) work(chunk, worker int) {
	if k.packing {
		tiles := (k.in() + k.kernel.mr - 1) / k.kernel.mr
		k.pack(chunk/tiles, chunk%tiles*k.kernel.mr)
		return
	}
	block, group, first := chunk%k.blocks, chunk/k.blocks%k.groups, chunk/k.blocks/k.groups*k.images
	images := min(k.images, k.n-first)
	scratch := k.device.scratch[worker]
	runs := scratch[:k.out()*k.whole]
	k.spreadOutputs(k.device, runs, k.dataY, first, images, group*k.out(), (group+1)*k.out(), k.lead, k.whole)
	from := block * k.rows
	rows := min(k.rows, k.in()-from)
	result := scratch[len(runs):]
	for p, offsets := range k.offsets {
		panel := k.device.panel[group*k.packed+k.starts[p]+from*len(offsets):]
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

// pack writes one tile's panel of each phase: rows are input channels, depth is
// output channel and element of the kernel.
func (k *conv2dInput) pack(group, from int) {
	mr, area := k.kernel.mr, k.kh*k.kw
	rows := min(mr, k.in()-from)
	w := k.dataW[group*k.out()*k.in()*area:]
	for p, taps := range k.taps {
		depth := len(k.offsets[p])
		panel := k.device.panel[group*k.packed+k.starts[p]+from*depth:][:mr*depth]
		clear(panel)
		at := 0
		for o := range k.out() {
			for _, t := range taps {
				for r := range rows {
					panel[at+r] = w[(o*k.in()+from+r)*area+t]
				}
				at += mr
			}
		}
	}
}
