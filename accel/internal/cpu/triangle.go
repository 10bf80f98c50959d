package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.Triangle](newTriangle)

// newTriangle returns a step that copies a part of each row; a chunk is some rows.
func newTriangle(_ *Device, s ir.Step) (step, error) {
	op, shape, size := s.Op.(ir.Triangle), s.In[0].Shape, s.In[0].DType.Size()
	last := len(shape) - 1
	m := shape[last-1]
	rows, n, _ := axes(shape, last, last+1)
	return stepFunc(func(p *program) error {
		x, y := raw(p, s.In[0]), raw(p, s.Out[0])
		p.device.pool.split(rows, max(1, moveLen/max(n, 1)), func(row, end, _ int) {
			for ; row < end; row++ {
				from, to := op.Kept(row%m, n)
				y := y[row*n*size:][:n*size]
				clear(y[:from*size])
				copy(y[from*size:to*size], x[(row*n+from)*size:])
				clear(y[to*size:])
			}
		})
		return nil
	}), nil
}
