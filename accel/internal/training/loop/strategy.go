package loop

import (
	"context"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// processes are those that compute something together: this process alone ([single]), or the
// ranks of a group ([ranks]). All methods are collective (each rank calls them in the same
// order), except shard, writes, groupError, meter and release.
type processes interface {
	// shard selects the part of each batch that this process computes.
	shard() data.Option
	// writes reports whether this process displays figures and writes files.
	writes() bool
	// runOnAll runs work on each rank, and fails on all ranks if it fails on one.
	runOnAll(work func() error) error
	// anyRank reports whether mine is true on any rank.
	anyRank(mine bool) (bool, error)
	// broadcastFile sends the tensors and notes that rank 0 has read to all ranks; notes is nil
	// if there is no file.
	broadcastFile(tensors map[string]*tensor.Tensor, notes map[string]string) (map[string]*tensor.Tensor, map[string]string, error)
	// broadcastBuffers gives all ranks the buffers of rank 0, such as running means.
	broadcastBuffers(model nn.Module) error
	// sumResult adds up the losses and measures of all ranks for their parts of a data set.
	sumResult(loss weightedLoss, m *measures) (weightedLoss, *measures, error)
	// compareModels fails unless all ranks have the same model and data set.
	compareModels(ctx context.Context, model nn.Module, set *data.Dataset) error
	// groupError returns why other ranks cannot be reached any more, nil if they can.
	groupError() error
	// meter returns a progress bar for a number of examples; nil on ranks that display nothing.
	meter(ctx context.Context, examples int) *display.Meter
	// release ends an evaluation or a prediction.
	release(what string, returned bool)
}

// strategy is how the steps of a training run: in this process alone ([single]), or on the
// ranks of a group together ([dataParallel]). All methods are collective, except beforeStep,
// random, updates, loss, interrupt, stopSynchronizing and end.
type strategy interface {
	processes

	// begin gives all ranks the same weights and order of the examples before the first step;
	// finish gives them the same state after the last step.
	begin() error
	finish() error
	// beforeStep prepares the step of this number, from 1, which may be the first after a training was resumed.
	beforeStep(number int)
	// random returns the state of the random numbers with which a training that is resumed continues.
	random() (stream, drawn uint64)
	// shareFile fails on all ranks of an elastic group unless all see the file that rank 0 sees.
	shareFile(path string) error
	// batch computes the gradients of a batch; forward runs its forward pass, and returns what runs the backward pass. lastBatch does
	// so for the last batch of a step, and adds the gradients and the measurement of the step over the ranks. idle participates in
	// a batch of which this rank has no examples; learn computes gradients with weight zero.
	batch(forward forwardPass) error
	lastBatch(p *precision, m *measurement, forward forwardPass) error
	idle(learn func(data.Batch))
	// updates returns what the optimizer updates: the model, or this rank's part of it. Its Forward
	// computes the model. updated is called after each update, and adds it to an average unless that is nil. whole is called before
	// the model or the average are read.
	updates(model nn.Module) nn.Module
	updated(average *optim.EMA) error
	whole() error
	// wholeState returns the state of the optimizer of the whole model, on the rank that writes files. The model is then whole, too.
	wholeState(o *optim.Optimizer) (optim.State, error)
	// inStep reports whether all ranks know that the training ends, and are between the same steps.
	inStep() bool
	// loss returns the loss to differentiate for the loss of a batch.
	loss(p *precision, loss *tensor.Tensor) *tensor.Tensor
	// askStop asks, before an epoch, whether a rank was interrupted; interrupt returns the
	// error with which the training then ends.
	askStop() error
	interrupt(ctx context.Context) error
	// stopSynchronizing makes layers such as SyncBatchNorm stop communicating with other ranks.
	stopSynchronizing()
	// end ends the training, after an error or a panic too.
	end(err error, returned bool)
}

// newProcesses returns the ranks of a group, or this process alone if group is nil.
func newProcesses(ctx context.Context, group *parallel.Group) processes {
	if group == nil || group.Size() == 1 && !group.Elastic() {
		return single{}
	}
	return newRanks(ctx, group)
}

// Reject returns err, with which the call of this rank ends before it begins. The other ranks of the group, which may be nil, get it in
// their first exchange, in which they wait for this rank; if their calls cannot begin either, each rank returns its own error. The group
// can be used afterwards.
func Reject(ctx context.Context, group *parallel.Group, err error) error {
	if r, ok := newProcesses(ctx, group).(*ranks); ok && group.Err() == nil {
		defer r.release("", true)
		return r.runOnAll(func() error { return err })
	}
	return err
}

// newStrategy returns the strategy of a training. Several ranks first verify that they are
// about to run the same one.
func newStrategy(ctx context.Context, o *Settings, t *history.Training, record *history.Recorder) (strategy, error) {
	r, ok := newProcesses(ctx, o.Group).(*ranks)
	if !ok {
		return single{}, nil
	}
	d := newDataParallel(r, o, t, record)
	if err := r.compareTrainings(t.Dataset, o); err != nil {
		r.release("the training", true)
		return nil, err
	}
	return d, nil
}

// single is the strategy of a single process; nothing has to be combined.
type single struct{}

func (single) begin() error  { return nil }
func (single) finish() error { return nil }

func (single) beforeStep(int)                 {}
func (single) random() (stream, drawn uint64) { return (*tensor.Generator)(nil).State() }
func (single) shareFile(string) error         { return nil }

func (single) batch(forward forwardPass) error {
	backward, err := forward()
	if err == nil {
		backward()
	}
	return err
}

func (s single) lastBatch(_ *precision, _ *measurement, forward forwardPass) error {
	return s.batch(forward)
}

func (single) idle(func(data.Batch)) {}

func (single) updates(model nn.Module) nn.Module { return model }
func (single) whole() error                      { return nil }
func (single) inStep() bool                      { return true }

func (single) updated(average *optim.EMA) error {
	if average != nil {
		average.Update()
	}
	return nil
}

func (single) wholeState(o *optim.Optimizer) (optim.State, error) { return o.State(), nil }

// loss makes the step fail on the device if the loss is not finite.
func (single) loss(p *precision, loss *tensor.Tensor) *tensor.Tensor { return p.requireFinite(loss) }

func (single) askStop() error                      { return nil }
func (single) interrupt(ctx context.Context) error { return ctx.Err() }
func (single) groupError() error                   { return nil }
func (single) stopSynchronizing()                  {}
func (single) end(error, bool)                     {}

func (single) shard() data.Option               { return data.Option{} }
func (single) writes() bool                     { return true }
func (single) runOnAll(work func() error) error { return work() }
func (single) anyRank(mine bool) (bool, error)  { return mine, nil }

func (single) broadcastFile(tensors map[string]*tensor.Tensor, notes map[string]string) (map[string]*tensor.Tensor, map[string]string, error) {
	return tensors, notes, nil
}

func (single) broadcastBuffers(nn.Module) error { return nil }

func (single) sumResult(loss weightedLoss, m *measures) (weightedLoss, *measures, error) {
	return loss, m, nil
}

func (single) compareModels(context.Context, nn.Module, *data.Dataset) error { return nil }

func (single) meter(ctx context.Context, examples int) *display.Meter {
	meter, _ := display.Measure(ctx, "examples", float64(examples))
	return meter
}

func (single) release(string, bool) {}
