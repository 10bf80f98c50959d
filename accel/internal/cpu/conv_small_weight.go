package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

// smallWeight is the gradient of w for a convolution of small images: for each kernel
// element, x times dy, input channels by images and images by output channels, summed over
// the positions where the element overlaps the image. One chunk computes some channels of
// both.
type smallWeight struct {
	convOperands
	device         *Device
	kernel         *winogradKernel
	inputs, slopes positionsOf
	area           int
	runs           [][]run // runs of each kernel element
	table          []int   // offsets of the weights
	each           int     // channels per chunk
	across, down   int     // number of chunks over the channels of x and of dy
}

// run is contiguous positions of dy and of x that a kernel element combines.
type run struct{ result, image, count int }

// smallSums returns the number of channels of a chunk that gives every thread work, or 0 if
// there are too few channels.
func smallSums(in, out int) int {
	for _, each := range []int{64, 32} {
		if (in+each-1)/each*((out+each-1)/each) >= 8 {
			return each
		}
	}
	return 0
}

func newSmallWeight(d *Device, s ir.Step, g *planes) *smallWeight {
	t := d.winograd
	k := &smallWeight{device: d, kernel: t, convOperands: weightOperands(s), area: g.kh * g.kw}
	k.inputs, k.slopes = newPositionsOf(t, g.n, g.c, g.h*g.w), newPositionsOf(t, g.n, g.o, g.oh*g.ow)
	k.runs = make([][]run, k.area)
	for _, list := range g.tapUses(false) {
		for _, m := range list {
			r := k.runs[m.tap]
			if last := len(r) - 1; last >= 0 && r[last].result+r[last].count == m.result && r[last].image+r[last].count == m.image {
				r[last].count++
				continue
			}
			k.runs[m.tap] = append(r, run{m.result, m.image, 1})
		}
	}
	k.each = smallSums(g.c, g.o)
	k.across, k.down = (g.c+k.each-1)/k.each, (g.o+k.each-1)/k.each
	step, width := k.step()
	k.table = t.rowOffsets(k.area*t.lanes, func(j int) int { return j%k.area*step + j/k.area*width })
	workspace := t.lanes * max(k.area*t.lanes, k.inputs.count, k.slopes.count)
	d.reserve(k.inputs.size()+k.slopes.size(), k.area*step+workspace)
	return k
}

// step returns the size of a chunk's sums of one kernel element, and the width of their
// rows.
func (k *smallWeight) step() (step, width int) {
	t := k.kernel
	width = t.blocks(min(k.slopes.channels, k.each)) * t.lanes
	return t.blocks(min(k.inputs.channels, k.each)) * t.lanes * width, width
}

func (k *smallWeight) run(p *program) error {
	k.bind(p)
	p.device.pool.each(k.inputs.chunks()+k.slopes.chunks(), func(chunk, worker int) {
		scratch, size := k.device.scratch[worker], k.inputs.size()
		if images := k.inputs.chunks(); chunk < images {
			k.inputs.lay(k.device.panel[:size], k.dataX, chunk, scratch)
		} else {
			k.slopes.lay(k.device.panel[size:], k.dataY, chunk-images, scratch)
		}
	})
	p.device.pool.run(k.across*k.down, k)
	k.release()
	return nil
}

func (k *smallWeight) work(chunk, worker int) {
	scratch, size := k.device.scratch[worker], k.inputs.size()
	x, dy := k.device.panel[:size], k.device.panel[size:]
	t := k.kernel
	left, top := chunk%k.across*k.each, chunk/k.across*k.each
	in, out := min(k.each, k.inputs.channels-left), min(k.each, k.slopes.channels-top)
	step, width := k.step()
	sums, workspace := scratch[:k.area*step], scratch[k.area*step:]
	for tap, runs := range k.runs {
		part := sums[tap*step:][:step]
		if len(runs) == 0 {
			clear(part)
		}
		for add, r := range runs {
			a, b := x[left/t.lanes*k.inputs.apart()+r.image*k.inputs.n*t.lanes:], dy[top/t.lanes*k.slopes.apart()+r.result*k.slopes.n*t.lanes:]
			k.multiply(part, a, b, r.count*k.inputs.n, t.blocks(in), t.blocks(out), width, add)
		}
	}
	for o := 0; o < out; o += t.lanes {
		for c := 0; c < in; c += t.lanes {
			w := k.dataW[((top+o)*k.inputs.channels+left+c)*k.area:]
			t.deinterleaveRows(w, k.inputs.channels*k.area, min(t.lanes, out-o), min(t.lanes, in-c)*k.area, sums[c*width+o:], k.table, workspace)
		}
	}
}

// multiply adds the products at some positions.
func (k *smallWeight) multiply(sums, x, dy []float32, count, rows, columns, width, add int) {
	t := k.kernel
	half := t.lanes / 2
	for j := 0; j < columns; j += 2 {
		n := min(2, columns-j)
		for i := range 2 * rows {
			t.sums[n-1](count, &x[i/2*k.inputs.apart()+i%2*half], &dy[j*k.slopes.apart()], k.slopes.apart(), &sums[i*half*width+j*t.lanes], width, add)
		}
	}
}
