package parallel

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// statisticsReducer reduces the statistics of layers such as nn.SyncBatchNorm.
type statisticsReducer struct {
	group *Group
	ctx   context.Context
	time  *Overlap
	idle  bool
}

var _ tensors.ProcessGroup[*tensor.Tensor] = (*statisticsReducer)(nil)

// errOneProcess says why ranks within one process cannot train a model.
var errOneProcess = errors.New("parallel: ranks of Local share one process, where a layer that waits for other ranks would wait forever: start processes instead")

// synchronized returns the layers of a model that compute statistics over all ranks.
func synchronized(model any) (found []layer.Synchronized) {
	for _, m := range nn.NamedModules(model) {
		if l, ok := m.Module.(layer.Synchronized); ok && l.OverRanks() {
			found = append(found, l)
		}
	}
	return found
}

// synchronize makes these layers of the model compute statistics over all ranks from now on.
func (s *Gradients) synchronize(ctx context.Context) error {
	layers := synchronized(s.model)
	switch {
	case s.group.Size() == 1 || len(layers) == 0:
		s.reducer = nil
		return nil
	case s.group.info.local:
		return errOneProcess
	}
	s.reducer = &statisticsReducer{group: s.group, ctx: ctx, time: &s.time}
	for _, l := range layers {
		l.Synchronize(s.reducer)
	}
	return nil
}

// End makes layers such as nn.SyncBatchNorm compute local statistics again, for training
// without the group.
func (s *Gradients) End() {
	if s.reducer == nil {
		return
	}
	s.reducer = nil
	for _, l := range synchronized(s.model) {
		l.Synchronize(nil)
	}
}

// Synchronized reports whether the model has layers that compute statistics over all ranks, so
// that a rank without examples must take part in each pass; see [Gradients.Idle].
func (s *Gradients) Synchronized() bool { return s.reducer != nil }

// Idle runs f, the forward and backward pass of a rank without examples in a step, on
// substitute input. Models that are [Gradients.Synchronized] need it, because their layers wait
// for those of all ranks. The statistics of the substitute are ignored; its loss must be
// multiplied by 0.
func (s *Gradients) Idle(f func()) {
	if s.reducer == nil {
		f()
		return
	}
	s.reducer.idle = true
	defer func() { s.reducer.idle = false }()
	f()
}

// Idle reports whether this rank has no examples now.
func (a *statisticsReducer) Idle() bool { return a.idle }

// AllReduce reduces values, on GPUs without a copy through the hosts if possible.
func (a *statisticsReducer) AllReduce(t *tensor.Tensor) (*tensor.Tensor, error) {
	defer a.time.waiting("statistics", 8*t.Numel())()
	return a.group.sumTensor(a.ctx, t)
}
