package accel

import (
	"context"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/display"
)

// strategy is where the steps of a training run, and who takes part: this process alone
// ([single]), or the ranks of a group together ([dataParallel]). Evaluations and
// predictions use the second half of it.
//
// With several ranks all methods but shard, writes, interrupt, lost, alone, loss and the
// ends are collective: each rank calls them in the same order.
type strategy interface {
	// begin gives all ranks the same weights and order of the examples, before the first
	// step; settle makes them go on alike after the last one.
	begin(l *loop) error
	settle(l *loop) error
	// lastBatch runs learn, which computes the gradients of the last batch of a step, and
	// combines the gradients and the measurement of the step over the ranks. idle takes
	// part in a batch of which this rank has no examples.
	lastBatch(l *loop, m *measurement, learn func()) error
	idle(l *loop)
	// loss is the loss of a batch, whose gradient is computed next.
	loss(p *precision, loss *Tensor) *Tensor
	// askStop asks before an epoch whether a rank was interrupted; interrupt is the error
	// with which the training then ends.
	askStop() error
	interrupt(ctx context.Context) error
	// lost is why other ranks cannot be reached any more, nil if they can.
	lost() error
	// alone says that what follows is not done by all ranks.
	alone()
	// end ends a training, with an error or a panic.
	end(err error, returned bool)

	// shard is the part of each batch that this process computes.
	shard() data.Option
	// writes reports whether this process shows figures and writes files.
	writes() bool
	// together runs work that each rank has of its own, and fails on all if it fails on one.
	together(work func() error) error
	// any reports whether something is true on one rank at least.
	any(mine bool) (bool, error)
	// file gives all ranks the tensors and notes that rank 0 has read; nil notes if there is no file.
	file(tensors map[string]*Tensor, notes map[string]string) (map[string]*Tensor, map[string]string, error)
	// measured gives all ranks what the layers of rank 0 have measured.
	measured(model nn.Module) error
	// sumResult adds up what each rank has measured in its part of a data set.
	sumResult(result *Result) error
	// compareModels fails unless all ranks have the same model and data set.
	compareModels(ctx context.Context, model nn.Module, set *data.Dataset) error
	// meter shows how many of the examples have been computed; nil on ranks that show nothing.
	meter(ctx context.Context, examples int) *display.Meter
	// leave ends an evaluation or a prediction.
	leave(what string, returned bool)
}

// newStrategy returns the strategy of a group of processes; the group may be nil.
func newStrategy(ctx context.Context, group *parallel.Group) strategy {
	if group == nil || group.Size() == 1 {
		return single{}
	}
	return newDataParallel(ctx, group)
}

// beginStrategy chooses where the training runs. The ranks of a data-parallel training first
// compare what they are about to train.
func (l *loop) beginStrategy(ctx context.Context) error {
	l.strategy = newStrategy(ctx, l.o.group)
	r, ok := l.strategy.(*dataParallel)
	if !ok {
		return nil
	}
	r.gradients = parallel.NewGradients(l.o.group, l.model)
	if err := r.compare(l); err != nil {
		r.stop()
		r.cancel()
		return err
	}
	l.run.Ranks = r.group.Size()
	if !r.writes() {
		l.o.quiet, l.o.live, l.o.tensorBoard, l.o.track = true, nil, "", ""
	}
	return nil
}
