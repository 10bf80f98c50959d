package parallel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Gradients reduces the gradients of a model over the ranks of a group, so that all ranks make
// the same step. A custom training loop looks like this:
//
//	gradients := parallel.NewGradients(group, model)
//	err := gradients.Begin(ctx) // copies the weights of rank 0 to all ranks
//	…
//	batches := train.Batches(256, data.Shuffle(seed), data.Shard(group.Rank(), group.Size()))
//	for batches.Next() {
//		b := batches.Batch()
//		opt.ZeroGrad()
//		var loss *tensor.Tensor
//		if b.Len() > 0 {
//			loss = nn.CrossEntropy(model.Forward(b.X), b.Y)
//		}
//		if err := gradients.Backward(ctx, loss, b.Share()); err != nil { … }
//		opt.Step()
//	}
//
// Gradients are reduced in buckets: while one is being reduced, the next gradients are
// computed. The first step sends the last parameters first; later steps use the order in which
// gradients were completed on rank 0. If all gradients fit into one bucket, nothing overlaps.
//
// In a model with layers that compute statistics over all ranks, such as nn.SyncBatchNorm, all
// ranks must make each pass together: with examples on all of them (data.DropLast), or with
// [Gradients.Idle]. The gradients of such a model are sent when all are complete, because
// otherwise their order relative to the collectives of the layers would be undefined.
//
// It must only be used by one goroutine.
type Gradients struct {
	group  *Group
	model  any
	limit  int // maximum size of a bucket in bytes
	params []*tensor.Tensor
	sorted bool      // the buckets have the order in which gradients are completed
	whole  []*bucket // in sending order
	across *across   // for layers that synchronise over all ranks; nil if none
	time   Overlap
}

// Overlap is the cost of the gradient exchange.
type Overlap struct {
	Busy    time.Duration // time of transfers and reductions
	Waiting time.Duration // part of Busy in which the rank had nothing else to do
}

// waiting measures how long a rank waits for others, until the returned function is called.
func (o *Overlap) waiting(what string, bytes int) (end func()) {
	begin := time.Now()
	told := tell(trace.Exchanging, what, bytes)
	return func() {
		told()
		o.Busy += time.Since(begin)
		o.Waiting += time.Since(begin)
	}
}

// tell reports an interval to the profiler, if a profile is being taken.
func tell(kind trace.Kind, what string, bytes int) (end func()) {
	c := trace.Profile()
	if c == nil {
		return func() {}
	}
	begin := c.Now()
	return func() { c.Event(kind, what, begin, bytes) }
}

// Hidden returns the fraction of the exchange that overlaps with the computation of gradients,
// from 0 to 1.
func (o Overlap) Hidden() float64 {
	if o.Busy <= 0 {
		return 0
	}
	return max(0, 1-o.Waiting.Seconds()/o.Busy.Seconds())
}

// NewGradients returns the gradients of the parameters that nn.Parameters finds in a model, in
// buckets of the group's size ([Bucket]).
func NewGradients(g *Group, model any) *Gradients {
	return &Gradients{group: g, model: model, limit: g.bucket}
}

// Overlap returns the cost of the exchange so far.
func (s *Gradients) Overlap() Overlap { return s.time }

// Backward is loss.Backward on all ranks: each parameter then has the sum of the gradients of
// the ranks' losses, each weighted by the rank's share of the examples. A rank without examples
// passes nil and 0; with layers that synchronise over all ranks this is an error. Existing
// gradients are added once.
//
// Errors are those of [Group.AllReduce]. If the computation of this rank panics, the others are
// notified, and the panic continues.
func (s *Gradients) Backward(ctx context.Context, loss *tensor.Tensor, share float64) error {
	if loss == nil && s.Synchronised() {
		err := fmt.Errorf("parallel: rank %d has no examples, and nn.SyncBatchNorm needs some on each: leave out batches that are smaller (data.DropLast), or see Gradients.Idle", s.group.Rank())
		s.group.Fail(err)
		return err
	}
	_, err := s.Exchange(ctx, Exchange{Backward: func() {
		switch {
		case loss == nil:
		case share == 1:
			loss.Backward()
		default:
			part := loss.MulScalar(share)
			part.Backward()
			part.Release()
		}
	}})
	return err
}

// Exchange is what ranks exchange in one step.
type Exchange struct {
	// Backward computes the gradients.
	Backward func()
	// Sums is called after Backward and returns float32 scalars that are reduced together with
	// the gradients, equally many on each rank; may be nil.
	Sums func() []*tensor.Tensor
	// Votes are values on the host that are reduced in place meanwhile.
	Votes []float64
}

// Exchange runs one exchange: afterwards the parameters have the sums of the gradients over all
// ranks. It returns the reduced Sums.
func (s *Gradients) Exchange(ctx context.Context, e Exchange) (sums []*tensor.Tensor, err error) {
	if s.group.Size() == 1 {
		e.Backward()
		if e.Sums != nil {
			sums = e.Sums()
		}
		return sums, nil
	}
	if err := s.group.Err(); err != nil {
		return nil, err
	}
	s.arrange()
	x := &exchange{Gradients: s}
	x.start(ctx)
	done := false
	defer func() {
		for _, p := range s.params {
			p.AfterGrad(nil)
		}
		if !done { // Backward panicked
			s.group.Fail(fmt.Errorf("the computation of a gradient failed"))
			close(x.send)
			<-x.ended
		}
	}()
	for i, b := range s.whole {
		for _, p := range b.params {
			p.AfterGrad(func() { x.complete(i, p) })
		}
	}
	e.Backward()
	if e.Sums != nil {
		x.sums = e.Sums()
	}
	sums, err = x.finish(ctx, e.Votes)
	done = true
	if err == nil && !s.sorted {
		err = s.sort(ctx, x.order)
	}
	return sums, err
}

// sort makes new buckets in the order in which gradients were completed on rank 0; parameters
// without a gradient come last.
func (s *Gradients) sort(ctx context.Context, complete []*tensor.Tensor) error {
	s.sorted = true
	var mine []int
	for _, p := range complete {
		mine = append(mine, slices.Index(s.params, p))
	}
	text, err := json.Marshal(mine)
	if err == nil {
		text, err = s.group.Broadcast(ctx, 0, text)
	}
	if err != nil {
		return err
	}
	var order []int
	if err := json.Unmarshal(text, &order); err != nil {
		return fmt.Errorf("parallel: the order of the gradients: %w", err)
	}
	var params []*tensor.Tensor
	for _, i := range order {
		if i >= 0 && i < len(s.params) && !slices.Contains(params, s.params[i]) {
			params = append(params, s.params[i])
		}
	}
	for _, p := range slices.Backward(s.params) {
		if !slices.Contains(params, p) {
			params = append(params, p)
		}
	}
	s.fill(params)
	return nil
}

// bucket is a group of gradients that are reduced together.
type bucket struct {
	params []*tensor.Tensor
	wide   bool // float64
	last   bool // it includes the Sums
	length int  // number of elements
}

// arrange divides the parameters into buckets, the last ones first, unless that has been done.
func (s *Gradients) arrange() {
	params := nn.Parameters(s.model)
	if s.params != nil && slices.Equal(params, s.params) {
		return
	}
	s.params, s.sorted = params, false
	backward := slices.Clone(params)
	slices.Reverse(backward)
	s.fill(backward)
}

// fill makes the buckets for parameters in sending order.
func (s *Gradients) fill(params []*tensor.Tensor) {
	s.whole = nil
	var now *bucket
	bytes := 0
	for _, p := range params {
		wide := p.DType() == tensor.Float64
		size := p.Numel() * 4
		if wide {
			size *= 2
		}
		if now == nil || now.wide != wide || bytes+size > s.limit {
			now, bytes = &bucket{wide: wide}, 0
			s.whole = append(s.whole, now)
		}
		now.params = append(now.params, p)
		now.length += p.Numel()
		bytes += size
	}
	if len(s.whole) == 0 || s.whole[len(s.whole)-1].wide {
		s.whole = append(s.whole, &bucket{})
	}
	s.whole[len(s.whole)-1].last = true
}

// Begin copies the tensors of rank 0's model to all ranks: parameters and state of layers. It
// returns an error that describes the difference if the models differ. Layers without
// parameters, because they have not seen an input yet, get those of rank 0, which must have all
// parameters that others have.
//
// On GPUs it also connects the devices: gradients are then reduced by NCCL if it is installed
// on all ranks, otherwise through the hosts; see [Group.Through].
//
// Layers such as nn.SyncBatchNorm synchronise over all ranks until [Gradients.End] or until ctx
// is done.
func (s *Gradients) Begin(ctx context.Context) error {
	if err := Share(ctx, s.group, s.model); err != nil {
		return err
	}
	if err := sameLayers(ctx, s.group, s.model); err != nil {
		return err
	}
	if err := s.group.joinDevices(ctx); err != nil {
		return err
	}
	return s.synchronise(ctx)
}
