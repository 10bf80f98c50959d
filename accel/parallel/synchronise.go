package parallel

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// across adds up what layers measure, nn.SyncBatchNorm for instance.
type across struct {
	group *Group
	ctx   context.Context
	time  *Overlap
	idle  bool
}

var _ tensor.Across = (*across)(nil)

// errOneProcess says why ranks of one process cannot train a model.
var errOneProcess = errors.New("parallel: the ranks of Local share one engine, in which a layer that waits for other ranks would wait for ever; start processes")

// synchronised are the layers of a model that measure over all ranks.
func synchronised(model any) (found []layer.Synchronised) {
	for _, m := range nn.NamedModules(model) {
		if l, ok := m.Module.(layer.Synchronised); ok && l.OverRanks() {
			found = append(found, l)
		}
	}
	return found
}

// synchronise has the layers of the model that measure over all ranks do so from now on.
func (s *Gradients) synchronise(ctx context.Context) error {
	layers := synchronised(s.model)
	switch {
	case s.group.Size() == 1 || len(layers) == 0:
		s.across = nil
		return nil
	case s.group.place.local:
		return errOneProcess
	}
	s.across = &across{group: s.group, ctx: ctx, time: &s.time}
	for _, l := range layers {
		l.Synchronise(s.across)
	}
	return nil
}

// End has layers that measure over all ranks, nn.SyncBatchNorm, measure for themselves
// again. It is for models that are trained on without the group.
func (s *Gradients) End() {
	if s.across == nil {
		return
	}
	s.across = nil
	for _, l := range synchronised(s.model) {
		l.Synchronise(nil)
	}
}

// Synchronised tells whether layers of the model measure over all ranks, so that a rank
// without examples must take part in each pass; see [Gradients.Idle].
func (s *Gradients) Synchronised() bool { return s.across != nil }

// Idle runs f, the forward pass of a rank that has no examples in a step, with a stand-in
// for them, and its Backward, where the model is [Gradients.Synchronised]: its layers wait
// for those of all ranks. What they measure of the stand-in does not count; its loss must
// be multiplied by 0.
func (s *Gradients) Idle(f func()) {
	if s.across == nil {
		f()
		return
	}
	s.across.idle = true
	defer func() { s.across.idle = false }()
	f()
}

// Idle tells whether this rank has no examples now.
func (a *across) Idle() bool { return a.idle }

// Sum adds up, on GPUs that can without a way through the hosts.
func (a *across) Sum(t *tensor.Tensor) (*tensor.Tensor, error) {
	if on := a.group.devicesJoined(); on != nil {
		err := on.Sum(a.ctx, t)
		if err == nil {
			err = on.Wait()
		}
		if err != nil {
			return nil, a.group.breakWith(err)
		}
		return t, nil
	}
	if memory := t.Memory(); memory != nil {
		return t, a.reduce(numbersOf[float64](memory))
	}
	numbers := t.Float64s()
	if err := a.reduce(numbers); err != nil {
		return nil, err
	}
	t.Release()
	return tensor.FromFloat64s(numbers, len(numbers)), nil
}

func (a *across) reduce(numbers []float64) error {
	defer a.time.waiting("statistics", 8*len(numbers))()
	return a.group.AllReduceFloat64(a.ctx, numbers, Sum)
}
