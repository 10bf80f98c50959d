package cpu

// Convolutions of few images whose matmul leaves out the padding: all threads work on the columns of the same images, so that no
// element is laid out or packed twice.

// columnImages is the number of images from which on each thread computes its own.
const columnImages = 4

// columnConv is such a convolution. A chunk computes some columns.
type columnConv struct {
	*conv2d
	columns    columns
	each       int // columns of a chunk
	spreadings int // chunks of channels
}

// newColumnConv returns nil if it does not suit the convolution.
func newColumnConv(k *conv2d) *columnConv {
	t := &k.device.kernel
	if !t.packsFast || k.groups != 1 || k.n >= columnImages || k.out() < denseRows || k.depth < denseDepth {
		return nil
	}
	c := &columnConv{conv2d: k, spreadings: min(k.c, 4*k.device.pool.size)}
	k.images, k.rows, k.blocks = k.n, k.out(), 1
	k.used, k.whole = k.span(k.images, windowLen)
	c.columns = newColumns(positions{0, k.oh, k.ow, k.pitch, k.image}, k.n, t.nr)
	chunks := roundUp((c.columns.n+denseColumns-1)/denseColumns, k.device.pool.size)
	c.each = min(roundUp((c.columns.n+chunks-1)/chunks, t.nr), denseColumns/t.nr*t.nr)
	return c
}

func (k *columnConv) run(p *program) error {
	k.bind(p)
	runs := k.device.panel[k.packed:]
	p.device.pool.each(1+k.spreadings, func(chunk, _ int) {
		if chunk == 0 {
			k.pack(0, 0)
			return
		}
		from, to := k.c*(chunk-1)/k.spreadings, k.c*chunk/k.spreadings
		k.spread(k.device, runs[from*k.phases*k.whole:], k.dataX, 0, k.n, from, to, k.whole)
	})
	p.device.pool.split(k.columns.n, k.each, func(left, right, worker int) {
		k.denseBlock(&k.columns, k.device.panel, runs, k.offsets, k.out(), left, right, k.device.scratch[worker], k.storeDense(0, 0))
	})
	k.release()
	return nil
}
