package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.LogSoftmax](newSoftmax)
var _ = implementFloat32[ir.Softmax](newSoftmax)

// newSoftmax returns a step that computes rows of softmax, or of its logarithm.
func newSoftmax(d *Device, s ir.Step) (step, error) {
	rows, n, _ := axes(s.In[0].Shape, len(s.In[0].Shape)-1, len(s.In[0].Shape))
	_, logarithms := s.Op.(ir.LogSoftmax)
	d.reserve(0, sumExpLen)
	return stepFunc(func(p *program) error {
		if n == 0 {
			return nil
		}
		all, results := elements[float32](p, s.In[0]), elements[float32](p, s.Out[0])
		d.pool.split(rows, lossRows(rows, n), func(i, end, worker int) {
			for ; i < end; i++ {
				v, x, y := d.vectors, all[i*n:(i+1)*n], results[i*n:(i+1)*n]
				top := v.largest(x) // a NaN makes the whole row NaN through its sum
				if logarithms {
					v.addScalar(y, x, -top)
					v.addScalar(y, y, -float32(math.Log(sumExp(v, d.scratch[worker], y, 0))))
				} else {
					v.mulScalar(y, y, float32(1/sumExp(v, y, x, -top)))
				}
			}
		})
		return nil
	}), nil
}

// sumExp returns Σ exp(x + shift), for values that do not overflow, and writes the
// exponentials to d. If d is shorter than x, it keeps the last ones.
func sumExp(v *vectors, d, x []float32, shift float32) float64 {
	total := 0.0
	for at := 0; at < len(x); at += sumExpLen {
		n := min(sumExpLen, len(x)-at)
		to := d[:n]
		if len(d) >= len(x) {
			to = d[at:][:n]
		}
		total += float64(v.expSum(to, x[at:][:n], 1, shift))
	}
	return total
}

// sumExpLen is the number of values that are summed in float32.
const sumExpLen = 1024
