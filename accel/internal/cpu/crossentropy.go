package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.CrossEntropy](newCrossEntropy)
var _ = implementFloat32[ir.CrossEntropyGradient](newCrossEntropyGradient)

// crossEntropy is the mean of the rows' losses.
type crossEntropy struct {
	op                  ir.CrossEntropy
	logits, labels, out ir.Operand
	rows, classes, per  int
	x                   []float32
	label               []int32
	loss                []float64 // loss of each chunk
	device              *Device
}

func newCrossEntropy(d *Device, s ir.Step) (step, error) {
	k := &crossEntropy{device: d, op: s.Op.(ir.CrossEntropy), logits: s.In[0], labels: s.In[1], out: s.Out[0]}
	k.rows, k.classes = s.In[0].Shape[0], s.In[0].Shape[1]
	k.per = lossRows(k.rows, k.classes)
	k.loss = make([]float64, (k.rows+k.per-1)/k.per)
	d.reserve(0, sumExpLen)
	return k, nil
}

// lossRows returns the number of rows per chunk: each costs as much as some hundred
// elements.
func lossRows(rows, classes int) int {
	return max(1, min(rowsPerTask/8/max(classes, 1), (rows+lossChunks-1)/lossChunks))
}

const lossChunks = 16

func (k *crossEntropy) run(p *program) error {
	k.x, k.label = elements[float32](p, k.logits), elements[int32](p, k.labels)
	defer func() { k.x, k.label = nil, nil }()
	if err := checkClasses(k.op, k.label, k.classes); err != nil {
		return err
	}
	p.device.pool.run(len(k.loss), k)
	total := 0.0
	for _, v := range k.loss {
		total += v
	}
	elements[float32](p, k.out)[0] = float32(total / float64(k.rows))
	return nil
}

// checkClasses is checkIndices for the rows that a loss computes.
func checkClasses(op ir.CrossEntropy, label []int32, classes int) error {
	for at, i := range label {
		if uint(i) >= uint(classes) && !op.Skips(i) {
			return &ir.IndexError{Op: "CrossEntropy", Index: int(i), Element: at, Size: classes}
		}
	}
	return nil
}

func checkIndices(op string, index []int32, size int) error {
	for at, i := range index {
		if uint(i) >= uint(size) {
			return &ir.IndexError{Op: op, Index: int(i), Element: at, Size: size}
		}
	}
	return nil
}

func (k *crossEntropy) work(chunk, worker int) {
	total := 0.0
	v := k.device.vectors
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.rows); i++ {
		if k.op.Skips(k.label[i]) {
			continue
		}
		x := k.x[i*k.classes : (i+1)*k.classes]
		top := v.largest(x)
		total += math.Log(sumExp(v, k.device.scratch[worker][:sumExpLen], x, -top)) - float64(x[k.label[i]]-top)
	}
	k.loss[chunk] = total
}

// crossEntropyGradient is (softmax - one-hot)·dy/N.
type crossEntropyGradient struct {
	softmax
	op         ir.CrossEntropy
	labels, dy ir.Operand
	label      []int32
	scale      float32
}

func newCrossEntropyGradient(d *Device, s ir.Step) (step, error) {
	inner, err := newSoftmax(d, s)
	if err != nil {
		return nil, err
	}
	return &crossEntropyGradient{softmax: *inner.(*softmax), op: s.Op.(ir.CrossEntropyGradient).CrossEntropy, labels: s.In[1], dy: s.In[2]}, nil
}

func (k *crossEntropyGradient) run(p *program) error {
	k.x, k.y, k.label = elements[float32](p, k.in), elements[float32](p, k.out), elements[int32](p, k.labels)
	defer func() { k.x, k.y, k.label = nil, nil, nil }()
	if err := checkClasses(k.op, k.label, k.n); err != nil {
		return err
	}
	k.scale = elements[float32](p, k.dy)[0] / float32(k.rows)
	p.device.pool.run((k.rows+k.per-1)/k.per, k)
	return nil
}

func (k *crossEntropyGradient) work(chunk, worker int) {
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.rows); i++ {
		y := k.y[i*k.n : (i+1)*k.n]
		if k.op.Skips(k.label[i]) {
			clear(y)
			continue
		}
		k.row(i, worker)
		y[k.label[i]]--
		k.device.vectors.mulScalar(y, y, k.scale)
	}
}
