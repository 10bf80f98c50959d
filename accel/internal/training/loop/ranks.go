package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// ranks are the processes of a group, as one of them sees them.
type ranks struct {
	group      *parallel.Group
	fitContext context.Context // the context of Fit, Evaluate or PredictDataset
	ctx        context.Context // ends some time after fitContext, if other ranks do not answer
	cancel     context.CancelFunc
	stop       func() bool
	failure    error // with which this rank has broken the group
	agreed     bool  // all ranks know the error with which the work ends
	step       int   // the step of a training that runs; 0 for none
}

func newRanks(ctx context.Context, group *parallel.Group) *ranks {
	r := &ranks{group: group, fitContext: ctx}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.stop = context.AfterFunc(ctx, func() { time.AfterFunc(answerTime, r.cancel) })
	return r
}

// answerTime is how long other ranks may take to agree that the training stops.
const answerTime = 5 * time.Second

func (r *ranks) groupError() error {
	if r.failure != nil || r.group.Err() == nil {
		return r.failure
	}
	return r.collectiveError(r.group.Err())
}

// collectiveError returns the error of a collective of the group. A rank whose context is done has failed because of that: it
// and the others were interrupted at the same time, and one of them could not finish its step.
func (r *ranks) collectiveError(err error) error {
	at := ""
	if r.step > 0 {
		at = fmt.Sprintf(" in step %d", r.step)
	}
	if done := r.fitContext.Err(); done != nil {
		return fmt.Errorf("accel: DataParallel%s: %w: %w", at, done, err)
	}
	return fmt.Errorf("accel: DataParallel%s: %w", at, err)
}

func (r *ranks) shard() data.Option {
	return data.Shard(r.group.Rank(), r.group.Size())
}

func (r *ranks) writes() bool { return r.group.First() }

// meter returns a progress bar for a number of examples, on rank 0 only.
func (r *ranks) meter(ctx context.Context, examples int) *display.Meter {
	if !r.writes() {
		return nil
	}
	meter, _ := display.Measure(ctx, "examples", float64(max(examples/r.group.Size(), 1))) // the examples of this rank stand for all
	return meter
}

// release frees what newRanks allocated. A panic ends the work of the other ranks.
func (r *ranks) release(what string, returned bool) {
	if !returned {
		r.group.Fail(fmt.Errorf("%s has panicked", what))
	}
	r.stop()
	r.cancel()
}

// gather returns the values of all ranks, in order of rank.
func gather[T any](r *ranks, mine T) ([]T, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, fmt.Errorf("accel: DataParallel: encode the message of this rank: %w", err)
	}
	texts, err := r.group.AllGather(r.ctx, text)
	if err != nil {
		return nil, r.collectiveError(err)
	}
	all := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return nil, fmt.Errorf("accel: DataParallel: decode the message of rank %d: %w", i, err)
		}
	}
	return all, nil
}

func (r *ranks) broadcastFile(tensors map[string]*tensor.Tensor, notes map[string]string) (map[string]*tensor.Tensor, map[string]string, error) {
	all, err := gather(r, notes)
	if err != nil || all[0] == nil {
		return nil, nil, err
	}
	var named []parallel.NamedTensor
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		named = append(named, parallel.NamedTensor{Name: name, Tensor: tensors[name]})
	}
	named, err = parallel.BroadcastTensors(r.ctx, r.group, named)
	if err != nil {
		return nil, nil, r.collectiveError(err)
	}
	tensors = map[string]*tensor.Tensor{}
	for _, t := range named {
		tensors[t.Name] = t.Tensor
	}
	return tensors, all[0], nil
}

func (r *ranks) runOnAll(f func() error) error {
	err := f()
	text := ""
	if err != nil {
		text = "!" + err.Error()
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			text = "?" + err.Error()
		}
	}
	all, failed := r.group.AllGather(r.ctx, []byte(text))
	if failed != nil {
		return errors.Join(err, failed)
	}
	r.agreed = r.agreed || err != nil
	if err != nil {
		return err
	}
	for rank, t := range all {
		r.agreed = r.agreed || len(t) > 0
		switch {
		case len(t) == 0:
		case t[0] == '?':
			return fmt.Errorf("accel: rank %d was interrupted: %w", rank, context.Canceled)
		default:
			return fmt.Errorf("accel: rank %d failed: %s", rank, t[1:])
		}
	}
	return nil
}

func (r *ranks) anyRank(mine bool) (bool, error) {
	vote := []float64{0}
	if mine {
		vote[0] = 1
	}
	if err := r.group.AllReduceFloat64(r.ctx, vote, parallel.Sum); err != nil {
		return false, r.collectiveError(err)
	}
	return vote[0] > 0, nil
}

// broadcastBuffers gives all ranks the buffers of rank 0, such as the running means of
// BatchNorm, so that they validate the same model.
func (r *ranks) broadcastBuffers(model nn.Module) error {
	var named []parallel.NamedTensor
	for _, p := range nn.State(model) {
		if !p.RequiresGrad() {
			named = append(named, parallel.NamedTensor{Name: p.Name, Tensor: p.Tensor})
		}
	}
	if len(named) == 0 {
		return nil
	}
	theirs, err := parallel.BroadcastTensors(r.ctx, r.group, named)
	if err != nil || r.group.First() {
		return err
	}
	tensor.NoGrad(func() {
		for i, t := range theirs {
			named[i].Tensor.Assign(t.Tensor)
		}
	})
	return nil
}

// sumResult adds up the losses and measures of all ranks for their parts of a data set. All ranks
// add them in the same order, so that they get the same values.
func (r *ranks) sumResult(loss weightedLoss, m *measures) (weightedLoss, *measures, error) {
	sum := []float64{loss.sum, loss.weight}
	if err := r.group.AllReduceFloat64(r.ctx, sum, parallel.Sum); err != nil {
		return weightedLoss{}, nil, r.collectiveError(err)
	}
	if err := r.runOnAll(m.encode); err != nil {
		return weightedLoss{}, nil, err
	}
	all, err := gather(r, m)
	if err != nil {
		return weightedLoss{}, nil, err
	}
	total := m.again()
	for _, part := range all {
		if err := total.merge(part); err != nil {
			return weightedLoss{}, nil, fmt.Errorf("accel: DataParallel: %w", err)
		}
	}
	return weightedLoss{sum[0], sum[1]}, total, nil
}
