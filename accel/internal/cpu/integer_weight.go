package cpu

import (
	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.Int8Linear](newInt8Linear)

// int8Linear multiplies floats by int8 weights: a few rows directly with the weights in
// place, many rows by a matrix multiplication with weights converted to floats.
type int8Linear struct {
	in, out ir.Operand
	kernel  *byteKernel
	weights *integer.Weights
	rows    int
	gemm    *gemm // nil for few rows
}

// fewRows is the maximum number of rows for which the weights are not converted to floats:
// as long as one pass over the weights serves all rows.
const fewRows = 8

// outputsPerTask is the number of outputs per chunk.
const outputsPerTask = 16

func newInt8Linear(d *Device, s ir.Step) (step, error) {
	w := s.Op.(ir.Int8Linear).Weights
	k := &int8Linear{in: s.In[0], out: s.Out[0], kernel: d.bytes, weights: w, rows: s.In[0].Shape[0]}
	if k.rows > fewRows {
		if n := w.Out * w.In; len(d.widened) < n {
			d.widened = shared(n)
		}
		k.gemm = newGEMM(d, k.rows, w.Out, w.In, matrix{row: w.In, col: 1}, matrix{row: 1, col: w.In})
	}
	return k, nil
}

func (k *int8Linear) run(p *program) error {
	x, y, w, floats := elements[float32](p, k.in), elements[float32](p, k.out), k.weights, p.device.widened
	if len(y) == 0 {
		return nil
	}
	p.device.pool.split(w.Out, outputsPerTask, func(o, end, _ int) {
		for ; o < end; o++ {
			weight := w.Weight[o*w.In:][:w.In]
			if k.gemm != nil {
				k.kernel.widen(floats[o*w.In:][:w.In], weight, w.Step[o])
				continue
			}
			for r := range k.rows {
				y[r*w.Out+o] = k.kernel.dot(x[r*w.In:][:w.In], weight) * w.Step[o]
			}
		}
	})
	if g := k.gemm; g != nil {
		g.a.data, g.b.data, g.c = x, floats, y
		g.run()
		g.a.data, g.b.data, g.c = nil, nil, nil
	}
	return nil
}
