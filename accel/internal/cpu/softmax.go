package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// softmax computes rows of softmax, or of its logarithm.
type softmax struct {
	device  *Device
	in, out ir.Operand
	log     bool
	n, rows int // length and number of rows
	per     int // rows in one chunk
	x, y    []float32
}

func newSoftmax(d *Device, s ir.Step) (step, error) {
	shape := s.In[0].Shape
	if last := len(shape) - 1; s.Out[0].DType == ir.Float64 {
		_, log := s.Op.(ir.LogSoftmax)
		return newWideLines(s, last, last+1, shape[last], softmaxLine(log)), nil
	}
	k := &softmax{device: d, in: s.In[0], out: s.Out[0], n: shape[len(shape)-1], rows: ir.Len(shape[:len(shape)-1])}
	_, k.log = s.Op.(ir.LogSoftmax)
	k.per = max(1, rowsPerTask/8/max(k.n, 1))
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

func (k *softmax) work(chunk, _ int) {
	v := k.device.vectors
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.rows); i++ {
		x, y := k.x[i*k.n:(i+1)*k.n], k.y[i*k.n:(i+1)*k.n]
		v.addScalar(y, x, -v.largest(x)) // a NaN spoils the row through its sum
		if k.log {
			v.addScalar(y, y, -logSumExp(v, y))
			continue
		}
		v.exp(y, y)
		v.mulScalar(y, y, 1/v.sum(y))
	}
}

// logSumExp is ln Σ eˣ of values that do not overflow.
func logSumExp(v *vectors, x []float32) float32 {
	total := 0.0
	var e [64]float32
	for len(x) > 0 {
		n := min(len(x), len(e))
		v.exp(e[:n], x[:n])
		total += float64(v.sum(e[:n]))
		x = x[n:]
	}
	return float32(math.Log(total))
}
