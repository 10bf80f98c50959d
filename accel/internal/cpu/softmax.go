package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.LogSoftmax](newSoftmax)
var _ = implementFloat32[ir.Softmax](newSoftmax)

// softmax computes rows of softmax, or of its logarithm.
type softmax struct {
	device  *Device
	in, out ir.Operand
	log     bool
	n, rows int // length of a row, and number of rows
	per     int // rows per chunk
	x, y    []float32
}

func newSoftmax(d *Device, s ir.Step) (step, error) {
	shape := s.In[0].Shape
	k := &softmax{device: d, in: s.In[0], out: s.Out[0], n: shape[len(shape)-1], rows: ir.Len(shape[:len(shape)-1])}
	_, k.log = s.Op.(ir.LogSoftmax)
	k.per = lossRows(k.rows, k.n)
	d.reserve(0, sumExpLen)
	return k, nil
}

func (k *softmax) run(p *program) error {
	k.x, k.y = elements[float32](p, k.in), elements[float32](p, k.out)
	if k.n > 0 {
		p.device.pool.run((k.rows+k.per-1)/k.per, k)
	}
	k.x, k.y = nil, nil
	return nil
}

func (k *softmax) work(chunk, worker int) {
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.rows); i++ {
		k.row(i, worker)
	}
}

// row computes row i.
func (k *softmax) row(i, worker int) {
	v := k.device.vectors
	x, y := k.x[i*k.n:(i+1)*k.n], k.y[i*k.n:(i+1)*k.n]
	top := v.largest(x) // a NaN makes the whole row NaN through its sum
	if k.log {
		v.addScalar(y, x, -top)
		v.addScalar(y, y, -float32(math.Log(sumExp(v, k.device.scratch[worker], y, 0))))
		return
	}
	v.mulScalar(y, y, float32(1/sumExp(v, y, x, -top)))
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
