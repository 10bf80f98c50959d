package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.CrossEntropy](newCrossEntropy)
var _ = implementFloat32[ir.CrossEntropyGradient](newCrossEntropy)

// crossEntropy is the mean of the rows' losses, the gradient (softmax - one-hot)·dy/N, or both, for which a row is read
// and its exponentials are computed once.
type crossEntropy struct {
	op                   ir.CrossEntropy
	logits, labels, dy   ir.Operand
	out, gradient        ir.Operand // of the loss, and of its gradient
	hasLoss, hasGradient bool
	word                 int // of dy if it is a constant, else -1
	rows, classes, per   int
	x, y                 []float32
	label                []int32
	scale                float32   // dy/N
	loss                 []float64 // loss of each chunk
	device               *Device
}

// FusesLosses returns true: the gradient of a loss also computes the loss.
func (d *Device) FusesLosses() bool { return true }

func newCrossEntropy(d *Device, s ir.Step) (step, error) {
	k := &crossEntropy{device: d, logits: s.In[0], labels: s.In[1], word: -1}
	switch op := s.Op.(type) {
	case ir.CrossEntropy:
		k.op, k.out, k.hasLoss = op, s.Out[0], true
	case ir.CrossEntropyGradient:
		k.op, k.gradient, k.hasGradient = op.CrossEntropy, s.Out[0], true
		if len(s.Out) > 1 {
			k.out, k.hasLoss = s.Out[1], true
		}
		if len(s.In) > 2 {
			k.dy = s.In[2]
		} else {
			k.word = s.Word
		}
	}
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
	defer func() { k.x, k.y, k.label = nil, nil, nil }()
	if err := checkClasses(k.op, k.label, k.classes); err != nil {
		return err
	}
	if k.hasGradient {
		k.y = elements[float32](p, k.gradient)
		dy := float32(0)
		if k.word >= 0 {
			dy = float32(p.scalar(k.word))
		} else {
			dy = elements[float32](p, k.dy)[0]
		}
		k.scale = dy / float32(k.rows)
	}
	p.device.pool.run(len(k.loss), k)
	if k.hasLoss {
		total := 0.0
		for _, v := range k.loss {
			total += v
		}
		elements[float32](p, k.out)[0] = float32(total / float64(k.rows))
	}
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
	exponentials := k.device.scratch[worker][:sumExpLen]
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.rows); i++ {
		label := k.label[i]
		x := k.x[i*k.classes : (i+1)*k.classes]
		if k.hasGradient {
			exponentials = k.y[i*k.classes : (i+1)*k.classes]
		}
		if k.op.Skips(label) {
			if k.hasGradient {
				clear(exponentials)
			}
			continue
		}
		top := v.largest(x) // a NaN makes the whole row NaN through its sum
		sum := sumExp(v, exponentials, x, -top)
		if k.hasLoss {
			total += math.Log(sum) - float64(x[label]-top)
		}
		if y := exponentials; k.hasGradient {
			v.mulScalar(y, y, float32(1/sum))
			y[label]--
			v.mulScalar(y, y, k.scale)
		}
	}
	k.loss[chunk] = total
}
