package accel

import (
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/tensor"
)

// measurement is what a step measures, as tensors that are not yet read.
type measurement struct {
	epoch    int
	examples int
	rate     float64
	scale    float64 // of the loss, once it is read; 0 without a scaler
	skipped  bool    // the gradients were no numbers, once that is read

	lossScale, made *Tensor // of the scaler's step; nil without one

	losses  []*Tensor // mean loss of each batch
	right   []*Tensor // number of right answers in each batch; empty for regression
	weights []float64 // examples of each batch
}

// add records the loss of a batch and, for classes, the number of right
// answers.
func (m *measurement) add(loss, prediction *Tensor, b data.Batch, classes bool) {
	m.losses = append(m.losses, loss)
	m.weights = append(m.weights, float64(b.Len()))
	if right := rightAnswers(prediction, b.Y, classes); right != nil {
		m.right = append(m.right, right)
	}
}

// rightAnswers returns how many rows of logits [N, C] are largest at the class, for
// sequences [N, T, C] the share of the places of each, added up, or nil where
// the prediction is not of this kind.
func rightAnswers(prediction, y *Tensor, classes bool) *Tensor {
	rank := prediction.NDim()
	if !classes || rank != 2 && rank != 3 || y.NDim() != rank-1 {
		return nil
	}
	largest := prediction.ArgMax(rank - 1)
	equal := largest.Eq(y)
	right := equal.Sum()
	equal.Release()
	largest.Release()
	if rank == 2 {
		return right
	}
	share := right.MulScalar(1 / float64(y.Size(1)))
	right.Release()
	return share
}

// read waits for the numbers: the mean loss over the examples, and the number
// of right answers, NaN where there is no such thing.
func (m *measurement) read() (loss, right float64) {
	if m.made != nil {
		m.scale, m.skipped = m.lossScale.Item(), m.made.Item() == 0
		m.lossScale.Release()
		m.made.Release()
	}
	total := 0.0
	for i, l := range m.losses {
		loss += l.Item() * m.weights[i]
		total += m.weights[i]
		l.Release()
	}
	if len(m.right) < len(m.losses) {
		return loss / total, math.NaN()
	}
	for _, n := range m.right {
		right += n.Item()
		n.Release()
	}
	return loss / total, right
}

// parts returns what this rank adds to the loss and to the number of right answers of the
// step, as single numbers: NaN where there is no such thing as an answer.
func (m *measurement) parts() []*Tensor {
	loss, right := tensor.Zeros(), tensor.Zeros()
	for i, l := range m.losses {
		loss = loss.Add(l.Detach().MulScalar(m.weights[i] / float64(m.examples)))
	}
	for _, n := range m.right {
		right = right.Add(n)
	}
	if len(m.right) < len(m.losses) {
		right = tensor.Full(math.NaN())
	}
	return []*Tensor{loss, right}
}

// replace puts the sums over all ranks in the place of the parts.
func (m *measurement) replace(loss, right *Tensor) {
	for _, t := range append(m.losses, m.right...) {
		t.Release()
	}
	m.losses, m.right, m.weights = []*Tensor{loss}, []*Tensor{right}, []float64{float64(m.examples)}
}

// sums add up measurements, weighted by their examples.
type sums struct {
	lossSum, right float64
	examples       int
}

func (s *sums) add(loss, right float64, examples int) {
	s.lossSum += loss * float64(examples)
	s.right += right
	s.examples += examples
}

func (s *sums) loss() float64     { return s.lossSum / float64(s.examples) }
func (s *sums) accuracy() float64 { return s.right / float64(s.examples) }
