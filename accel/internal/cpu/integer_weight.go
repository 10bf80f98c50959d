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
	floats  []float32

	x, y []float32
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
	k.x, k.y = elements[float32](p, k.in), elements[float32](p, k.out)
	if len(k.y) == 0 {
		return nil
	}
	if k.gemm != nil {
		k.floats = p.device.widened
	}
	p.device.pool.run((k.weights.Out+outputsPerTask-1)/outputsPerTask, k)
	if g := k.gemm; g != nil {
		g.a.data, g.b.data, g.c = k.x, k.floats, k.y
		g.run()
		g.a.data, g.b.data, g.c = nil, nil, nil
	}
	k.x, k.y, k.floats = nil, nil, nil
	return nil
}

func (k *int8Linear) work(chunk, _ int) {
	w := k.weights
	for o := chunk * outputsPerTask; o < min((chunk+1)*outputsPerTask, w.Out); o++ {
		weight := w.Weight[o*w.In:][:w.In]
		if k.gemm != nil {
			k.kernel.widen(k.floats[o*w.In:][:w.In], weight, w.Step[o])
			continue
		}
		for r := range k.rows {
			k.y[r*w.Out+o] = k.kernel.dot(k.x[r*w.In:][:w.In], weight) * w.Step[o]
		}
	}
}
