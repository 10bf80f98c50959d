package accel

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/tensor"
)

// measurement is what a step measures, as tensors that have not been read yet.
type measurement struct {
	epoch    int
	examples int
	rate     float64
	scale    float64 // the loss scale, once it has been read; 0 without a scaler
	skipped  bool    // the gradients overflowed, once that has been read

	lossScale, made *Tensor // the loss scale, and 1 if the step was made, else 0; nil without a scaler

	losses  []*Tensor // mean loss of each batch
	right   []*Tensor // number of correct predictions in each batch; empty for regression
	weights []float64 // number of examples of each batch
	// counted replaces weights if classes may be [data.Ignored]: the number of the others in each
	// batch, over which its mean is. It is nil otherwise.
	counted []*Tensor
	// parted says that the step has several batches, or parts on several ranks, whose gradients
	// forwardBackward weights by counted/examples, and normalize divides by the sum of these.
	parted bool
}

// add records the loss of a batch and, for classes, the number of correct predictions.
func (m *measurement) add(loss, prediction *Tensor, b data.Batch, classes bool) {
	m.losses = append(m.losses, loss)
	m.weights = append(m.weights, float64(b.Len()))
	if b.Ignores {
		m.counted = append(m.counted, countedPositions(b.Y))
	}
	if right := rightAnswers(prediction, b, classes); right != nil {
		m.right = append(m.right, right)
	}
}

// rightAnswers returns the number of rows of logits [N, C] whose maximum is at the class. For
// sequences [N, T, C] it returns N times the share of correct tokens, or the number of correct tokens
// if some may be [data.Ignored]. It returns nil for other predictions.
func rightAnswers(prediction *Tensor, b data.Batch, classes bool) *Tensor {
	rank, y := prediction.NDim(), b.Y
	if !classes || rank != 2 && rank != 3 || y.NDim() != rank-1 {
		return nil
	}
	largest := prediction.ArgMax(rank - 1)
	equal := largest.Eq(y)
	right := equal.Sum()
	equal.Release()
	largest.Release()
	if rank == 2 || b.Ignores { // no prediction is Ignored
		return right
	}
	defer right.Release()
	return right.MulScalar(1 / float64(y.Size(1)))
}

// countedPositions returns the number of classes that are not [data.Ignored].
func countedPositions(y *Tensor) *Tensor {
	ignored := tensor.FromInts([]int{data.Ignored})
	defer ignored.Release()
	at := y.Eq(ignored)
	defer at.Release()
	counted := at.Not()
	defer counted.Release()
	return counted.Sum()
}

// read waits for the results: the mean loss over the examples, or positions, the number of correct
// predictions, NaN if there are none to count, and the number of examples, or positions.
func (m *measurement) read() (loss, right, total float64) {
	if m.made != nil {
		m.scale, m.skipped = m.lossScale.Item(), m.made.Item() == 0
		m.lossScale.Release()
		m.made.Release()
	}
	for i, l := range m.losses {
		weight := m.weights[i]
		if m.counted != nil {
			weight = m.counted[i].Item()
			m.counted[i].Release()
		}
		loss += l.Item() * weight
		total += weight
		l.Release()
	}
	mean := loss / max(total, 1) // without classes that count, the loss is 0
	if len(m.right) < len(m.losses) {
		return mean, math.NaN(), total
	}
	for _, n := range m.right {
		right += n.Item()
		n.Release()
	}
	return mean, right, total
}

// parts returns what this rank adds to the loss, to the number of correct predictions and to that of
// counted positions of the step, as scalars; NaN if predictions are not classes.
func (m *measurement) parts() []*Tensor {
	loss, right, counted := tensor.Zeros(), tensor.Zeros(), tensor.Zeros()
	for i, l := range m.losses {
		if m.counted == nil {
			loss = loss.Add(l.Detach().MulScalar(m.weights[i] / float64(m.examples)))
			continue
		}
		loss = loss.Add(l.Detach().Mul(m.counted[i]))
		counted = counted.Add(m.counted[i])
	}
	for _, n := range m.right {
		right = right.Add(n)
	}
	if len(m.right) < len(m.losses) {
		right = tensor.Full(math.NaN())
	}
	return []*Tensor{loss, right, counted}
}

// replace replaces the parts of this rank by the sums over all ranks. ignores says that classes may be
// [data.Ignored].
func (m *measurement) replace(loss, right, counted *Tensor, ignores bool) {
	for _, t := range slices.Concat(m.losses, m.right, m.counted) {
		t.Release()
	}
	m.losses, m.right, m.weights, m.counted = []*Tensor{loss}, []*Tensor{right}, []float64{float64(m.examples)}, nil
	if ignores {
		m.losses[0], m.counted = loss.Div(counted.Maximum(tensor.Full(1))), []*Tensor{counted}
	}
}

// normalize divides the gradients of a parted step by the sum of the weights of its batches.
func (m *measurement) normalize(parameters []*Tensor) {
	if !m.parted {
		return
	}
	tensor.NoGrad(func() {
		total := m.counted[0]
		for _, c := range m.counted[1:] {
			total = total.Add(c)
		}
		total = total.Maximum(tensor.Full(1)).MulScalar(1 / float64(m.examples)) // without any, the gradients are 0
		for _, p := range parameters {
			if g := p.Grad(); g != nil {
				p.SetGrad(g.Div(total.Cast(g.DType())))
			}
		}
	})
}

// sums accumulates measurements, weighted by their numbers of examples, or of counted positions.
type sums struct {
	lossSum, right float64
	counted        int
}

func (s *sums) add(loss, right, counted float64) {
	s.lossSum += loss * counted
	s.right += right
	s.counted += int(counted)
}

func (s *sums) loss() float64     { return s.lossSum / float64(s.counted) }
func (s *sums) accuracy() float64 { return s.right / float64(s.counted) }

// weightedLoss is the sum of the losses of batches, each times its weight, and the sum of the weights.
// The weight is the number of examples, or of classes that are not [data.Ignored].
type weightedLoss struct{ sum, weight float64 }
