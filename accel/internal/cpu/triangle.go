package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.Triangle](newTriangle)

// triangle copies a part of each row; a chunk is some rows.
type triangle struct {
	in, out ir.Operand
	op      ir.Triangle
	m, n    int // of a matrix
	rows    int // of all matrices
	per     int // rows per chunk
}

func newTriangle(_ *Device, s ir.Step) (step, error) {
	last := len(s.In[0].Shape) - 1
	k := &triangle{in: s.In[0], out: s.Out[0], op: s.Op.(ir.Triangle), m: s.In[0].Shape[last-1]}
	k.rows, k.n, _ = axes(s.In[0].Shape, last, last+1)
	k.per = max(1, moveLen/max(k.n, 1))
	return k, nil
}

func (k *triangle) run(p *program) error {
	x, y, size := raw(p, k.in), raw(p, k.out), k.in.DType.Size()
	p.device.pool.split(k.rows, k.per, func(row, end, _ int) {
		for ; row < end; row++ {
			from, to := k.op.Kept(row%k.m, k.n)
			y := y[row*k.n*size:][:k.n*size]
			clear(y[:from*size])
			copy(y[from*size:to*size], x[(row*k.n+from)*size:])
			clear(y[to*size:])
		}
	})
	return nil
}
