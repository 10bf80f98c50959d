package accel

import (
	"math"

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
}

// add records the loss of a batch and, for classes, the number of correct predictions.
func (m *measurement) add(loss, prediction *Tensor, b data.Batch, classes bool) {
	m.losses = append(m.losses, loss)
	m.weights = append(m.weights, float64(b.Len()))
	if right := rightAnswers(prediction, b, classes); right != nil {
		m.right = append(m.right, right)
	}
}

// rightAnswers returns the number of rows of logits [N, C] whose maximum is at the class. For
// sequences [N, T, C] it returns N times the share of correct tokens, without those whose class is
// [data.Ignored]. It returns nil for other predictions.
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
	if rank == 2 {
		return right
	}
	defer right.Release()
	if !b.Ignores {
		return right.MulScalar(1 / float64(y.Size(1)))
	}
	mean := right.Div(countedPositions(y))
	defer mean.Release()
	return mean.MulScalar(float64(b.Len()))
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

// read waits for the results: the mean loss over the examples, and the number of correct
// predictions, NaN if there are none to count.
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

// parts returns what this rank adds to the loss and to the number of correct predictions of the
// step, as scalars; NaN if predictions are not classes.
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

// replace replaces the parts of this rank by the sums over all ranks.
func (m *measurement) replace(loss, right *Tensor) {
	for _, t := range append(m.losses, m.right...) {
		t.Release()
	}
	m.losses, m.right, m.weights = []*Tensor{loss}, []*Tensor{right}, []float64{float64(m.examples)}
}

// sums accumulates measurements, weighted by their numbers of examples.
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
