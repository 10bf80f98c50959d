package loop

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/divisor"
	"github.com/quernlab/quern/accel/tensor"
)

// forwardPass runs the forward pass of a batch, and returns what runs its backward pass.
type forwardPass func() (backward func(), err error)

// measurement is what a step measures, as tensors that have not been read yet.
type measurement struct {
	epoch    int
	examples int
	rate     float64
	scale    float64 // the loss scale, once it has been read; 0 without a scaler
	skipped  bool    // the gradients overflowed, once that has been read

	gradNorm *tensor.Tensor // of all gradients; nil without RecordGradNorm
	norm     float64        // the same, once it has been read

	lossScale, made *tensor.Tensor // the loss scale, and 1 if the step was made, else 0; nil without a scaler

	losses  []*tensor.Tensor // mean loss of each batch
	right   []*tensor.Tensor // number of correct predictions in each batch; empty for regression
	weights []float64        // number of examples of each batch
	// divisors replaces weights if the losses are not means over examples: what each loss was divided
	// by, a sum of weights or the number of classes that are not [data.Ignored]. It is nil otherwise.
	divisors []*tensor.Tensor
	// counted is the number of classes that are not [data.Ignored] in each batch; nil for the number of
	// examples.
	counted []*tensor.Tensor
	// several says that the step has several batches, or parts on several ranks. With divisors,
	// forwardBackward weights their gradients by divisor/examples, and normalize divides them by the
	// sum of these.
	several bool
}

// lossAndDivisor computes a loss, and what it was divided by; nil for the number of examples.
func lossAndDivisor(loss func(prediction, target *tensor.Tensor) *tensor.Tensor, prediction, target *tensor.Tensor) (value, sum *tensor.Tensor) {
	return divisor.Of(func() *tensor.Tensor { return loss(prediction, target) })
}

// add records the loss of a batch, what it was divided by, and, if the predictions are scores of classes, the
// number of correct ones. divisor is nil if it is the number of examples, or of classes that are not
// [data.Ignored].
func (m *measurement) add(loss, divisor, prediction *tensor.Tensor, b data.Batch, classes bool) {
	m.losses = append(m.losses, loss)
	m.weights = append(m.weights, float64(b.Len()))
	if b.Ignores {
		m.counted = append(m.counted, countedPositions(b.Y))
		if divisor == nil {
			divisor = m.counted[len(m.counted)-1].Clone()
		}
	}
	if divisor != nil {
		m.divisors = append(m.divisors, divisor)
	}
	if right := rightAnswers(prediction, b, classes); right != nil {
		m.right = append(m.right, right)
	}
}

// rightAnswers returns the number of rows of logits [N, C] whose maximum is at the class. For
// sequences [N, T, C] it returns N times the share of correct tokens, or the number of correct tokens
// if some may be [data.Ignored]. It returns nil for other predictions.
func rightAnswers(prediction *tensor.Tensor, b data.Batch, classes bool) *tensor.Tensor {
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
	positions := tensor.Full(float64(y.Size(1)))
	defer positions.Release()
	return right.Div(positions) // the product with 1/T would be less than N for answers that are all right
}

// countedPositions returns the number of classes that are not [data.Ignored].
func countedPositions(y *tensor.Tensor) *tensor.Tensor {
	ignored := tensor.FromInts([]int{data.Ignored})
	defer ignored.Release()
	at := y.Eq(ignored)
	defer at.Release()
	counted := at.Not()
	defer counted.Release()
	return counted.Sum()
}

// results are what a step has measured.
type results struct {
	loss    float64 // mean
	weight  float64 // of the step: what the loss was divided by
	right   float64 // number of correct predictions, NaN if there are none to count
	counted float64 // number of examples, or of classes that are not [data.Ignored]
}

// read waits for the results.
func (m *measurement) read() (r results) {
	if m.made != nil {
		m.scale, m.skipped = m.lossScale.Item(), m.made.Item() == 0
		m.lossScale.Release()
		m.made.Release()
	}
	if m.gradNorm != nil {
		m.norm = m.gradNorm.Item()
		m.gradNorm.Release()
	}
	for i, l := range m.losses {
		weight, counted := m.weights[i], m.weights[i]
		if m.divisors != nil {
			weight = m.divisors[i].Item()
		}
		if m.counted != nil {
			counted = m.counted[i].Item()
		}
		r.loss += l.Item() * weight
		r.weight += weight
		r.counted += counted
	}
	if r.weight != 0 { // without classes that count, the loss is 0
		r.loss /= r.weight
	}
	if len(m.right) < len(m.losses) {
		r.right = math.NaN()
	} else {
		for _, n := range m.right {
			r.right += n.Item()
		}
	}
	for _, t := range slices.Concat(m.losses, m.divisors, m.counted, m.right) {
		t.Release()
	}
	return r
}

// parts returns what this rank adds to the loss, to the number of correct predictions, to that of
// counted positions, and to the divisor of the step, as scalars; NaN if predictions are not classes.
func (m *measurement) parts() []*tensor.Tensor {
	loss, right, counted, total := tensor.Zeros(), tensor.Zeros(), tensor.Zeros(), tensor.Zeros()
	for i, l := range m.losses {
		if m.counted != nil {
			counted = counted.Add(m.counted[i])
		}
		if m.divisors == nil {
			loss = loss.Add(l.Detach().MulScalar(m.weights[i] / float64(m.examples)))
			continue
		}
		loss = loss.Add(l.Detach().Mul(m.divisors[i]))
		total = total.Add(m.divisors[i])
	}
	for _, n := range m.right {
		right = right.Add(n)
	}
	if len(m.right) < len(m.losses) {
		right = tensor.Full(math.NaN())
	}
	return []*tensor.Tensor{loss, right, counted, total}
}

// replace replaces the parts of this rank by the sums over all ranks. ignores says that classes may be
// [data.Ignored], divided that any rank has a divisor.
func (m *measurement) replace(sums []*tensor.Tensor, ignores, divided bool) {
	for _, t := range slices.Concat(m.losses, m.right, m.counted, m.divisors) {
		t.Release()
	}
	m.losses, m.right, m.weights, m.counted, m.divisors = sums[:1], sums[1:2], []float64{float64(m.examples)}, nil, nil
	if ignores {
		m.counted = sums[2:3]
	}
	if divided {
		m.losses, m.divisors = []*tensor.Tensor{sums[0].Div(orOne(sums[3]))}, sums[3:4]
	}
}

// orOne returns t, or 1 where it is 0.
func orOne(t *tensor.Tensor) *tensor.Tensor {
	return tensor.Where(t.EqScalar(0), tensor.Full(1).Cast(t.DType()), t)
}

// normalize divides the gradients of a step of several batches by the sum of their divisors.
func (m *measurement) normalize(parameters []*tensor.Tensor) {
	if !m.several || m.divisors == nil {
		return
	}
	tensor.NoGrad(func() {
		total := m.divisors[0]
		for _, d := range m.divisors[1:] {
			total = total.Add(d)
		}
		total = orOne(total).MulScalar(1 / float64(m.examples)) // without any, the gradients are 0
		for _, p := range parameters {
			if g := p.Grad(); g != nil {
				p.SetGrad(g.Div(total.Cast(g.DType())))
			}
		}
	})
}

// sums accumulates measurements of steps.
type sums struct {
	lossSum, weight float64 // of the losses times their weights, and of the weights
	right           float64
	counted         int
}

func (s *sums) add(r results) {
	s.lossSum += r.loss * r.weight
	s.weight += r.weight
	s.right += r.right
	s.counted += int(r.counted)
}

// loss returns the mean loss; 0 if nothing has a weight, as that of a step.
func (s *sums) loss() float64 {
	if s.weight == 0 {
		return s.lossSum
	}
	return s.lossSum / s.weight
}
func (s *sums) accuracy() float64 { return s.right / float64(s.counted) }

// weightedLoss is the sum of the losses of batches, each times its weight, and the sum of the weights.
// The weight is what the loss was divided by: the number of examples, of classes that are not
// [data.Ignored], or the sum of their weights.
type weightedLoss struct{ sum, weight float64 }
