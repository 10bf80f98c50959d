package parallel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/divisor"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// A loss that divides by a sum of weights, such as those of classes, is a mean over the examples of all micro-batches and replicas only if
// each part counts as much as its sum, and all are divided by the sum of these. That is known when the last part has been computed, so the
// parts are weighted by their sums, and the gradients are divided at the end.

// weigh computes the loss of a micro-batch, and what its gradients are computed from.
func (m *microBatch) weigh(compute func() *tensor.Tensor) {
	m.loss, m.divisor = divisor.Of(compute)
	m.out = m.loss.MulScalar(m.share)
	if m.divisor == nil || m.share == 0 {
		return
	}
	tensor.NoGrad(func() { // the sum of the weights of an example, on average
		mean := m.divisor.MulScalar(1 / float64(m.y.Size(0)))
		m.divisor = mean.Cast(m.loss.DType())
		mean.Release()
	})
	shared := m.out
	m.out = shared.Mul(m.divisor)
	shared.Release()
}

// contribution is what a rank contributes to the loss of a step.
type contribution struct {
	loss    float64 // the losses times their weights
	weight  float64 // sum of the weights
	share   float64 // of the micro-batches that have a weight
	divided float64 // number of micro-batches whose loss divides by a sum of weights
	plain   float64 // number of the others
}

// add adds a micro-batch. One of a replica without examples counts for nothing.
func (c *contribution) add(m *microBatch) {
	if m.share == 0 {
		return
	}
	weight := m.share
	if m.divisor != nil {
		weight *= m.divisor.Item()
		m.divisor.Release()
		c.divided++
	} else {
		c.plain++
	}
	c.loss += m.loss.Item() * weight
	c.weight += weight
	c.share += m.share
}

// sum adds up the contributions of all ranks. It returns the loss of the step, and by what its gradients are multiplied.
func (d *distribution) sum(ctx context.Context, c contribution) (loss, factor float64, err error) {
	all := []float64{c.loss, c.weight, c.share, c.divided, c.plain, d.computed()}
	if err := d.mesh.Group.AllReduceFloat64(ctx, all, Sum); err != nil {
		return 0, 0, err
	}
	c = contribution{all[0], all[1], all[2], all[3], all[4]}
	d.gradients = all[5] > 0
	switch {
	case c.divided == 0:
		return c.loss, 1, nil
	case c.plain > 0:
		return 0, 0, errors.New("the loss divides by a sum of weights for some micro-batches, and by the number of examples for others: use the same loss for all")
	case c.weight == 0: // as with a class that is ignored everywhere: the loss and its gradients are 0
		return c.loss, 1, nil
	}
	return c.loss * c.share / c.weight, c.share / c.weight, nil
}

// computed returns 1 if this rank has computed a gradient in a backward pass, whose sums are not finished yet, else 0.
func (d *distribution) computed() float64 {
	for _, p := range d.local {
		if g := p.tensor.Grad(); g != nil {
			g.Release()
			return 1
		}
	}
	if d.shared == nil {
		return 0
	}
	for _, u := range d.allUnits() {
		for _, b := range u.buckets {
			if slices.Contains(b.present, true) {
				return 1
			}
		}
	}
	return 0
}

// keepGradients returns the gradients that parameters have before a backward pass, if it adds to them directly, and may have to be
// multiplied by a factor afterwards.
func (d *distribution) keepGradients() map[*part]*tensor.Tensor {
	before := map[*part]*tensor.Tensor{}
	if d.shared != nil {
		return before // reduceRest adds
	}
	for _, p := range d.local {
		if p.trained {
			before[p] = p.tensor.Grad()
		}
	}
	return before
}

// scale multiplies what a backward pass has added to the gradients before.
func (d *distribution) scale(before map[*part]*tensor.Tensor, factor float64) {
	tensor.NoGrad(func() {
		for p, old := range before {
			now := p.tensor.Grad()
			if factor != 1 && now != nil {
				p.replaceGradient(old, now, factor)
			}
			for _, t := range []*tensor.Tensor{old, now} {
				if t != nil {
					t.Release()
				}
			}
		}
		tensor.Flush()
	})
}

// replaceGradient replaces the gradient old + new, which is now, by old + factor·new.
func (p *part) replaceGradient(old, now *tensor.Tensor, factor float64) {
	if old == nil {
		scaled := now.MulScalar(factor)
		p.tensor.SetGrad(scaled)
		scaled.Release()
		return
	}
	added := now.Sub(old)
	scaled := added.MulScalar(factor)
	sum := old.Add(scaled)
	tensors.ExtendGrad(p.tensor, func() { p.tensor.SetGrad(sum) })
	for _, t := range []*tensor.Tensor{added, scaled, sum} {
		t.Release()
	}
}

// microBatchesOf returns into how many micro-batches a batch is divided: no more than it has examples. Replicas that reduce gradients
// during the backward pass need the same number.
func (d *distribution) microBatchesOf(x *tensor.Tensor) (int, error) {
	n := min(d.microBatches, x.Size(0))
	if d.microBatches == 1 || d.zero == 1 || d.mesh.DP.Size() == 1 {
		return n, nil
	}
	all, err := gatherJSON(d.ctx, d.mesh.DP, n)
	for _, other := range all {
		n = min(n, other)
	}
	return n, err
}

// checkBatch returns an error for arguments of Backward that are not a batch.
func checkBatch(x, y *tensor.Tensor, loss func(prediction, target *tensor.Tensor) *tensor.Tensor, share float64) error {
	switch {
	case x == nil || y == nil:
		return errors.New("the batch has no inputs or no targets: a replica without examples passes any example, with share 0")
	case loss == nil:
		return errors.New("the loss is nil")
	case x.NDim() == 0 || y.NDim() == 0 || x.Size(0) != y.Size(0):
		return fmt.Errorf("the batch has inputs %v and targets %v: both need the examples as first dimension", x.Shape(), y.Shape())
	case x.Size(0) == 0:
		return fmt.Errorf("the batch has inputs %v, which are no example: a replica without examples passes any example, with share 0", x.Shape())
	case !(share >= 0) || math.IsInf(share, 1):
		return fmt.Errorf("the share of this replica, %v, must be finite and not negative", share)
	}
	return nil
}

// firstForward runs the forward pass of a micro-batch. In the first step, ranks that exchange nothing before the first micro-batch has a
// loss learn whether all have one: an error that all have, such as that of a loss for other targets, does not break the group.
func (d *distribution) firstForward(micro int, forward func() error) error {
	if d.steps > 1 || micro > 0 || d.mesh.PP.Size() > 1 || d.mesh.TP.Size() > 1 || d.zero == 3 {
		return forward()
	}
	return d.agreeFirst(func() (err error) {
		defer nn.Catch(&err)
		return forward()
	}())
}

// agreeFirst returns an error on all ranks if one has an error. The group can be used afterwards.
func (d *distribution) agreeFirst(err error) error {
	err = d.mesh.Group.agree(d.ctx, err)
	d.agreed = err != nil && d.mesh.Group.Err() == nil
	return err
}
