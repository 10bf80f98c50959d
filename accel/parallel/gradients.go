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

// Gradients adds up the gradients of a model over the ranks of a group, so that all of
// them make the same step. A loop of one's own is
//
//	gradients := parallel.NewGradients(group, model)
//	err := gradients.Begin(ctx) // all have the weights of rank 0
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
// It goes through the gradients in buckets: while one is on its way the next gradients
// are computed. In the first step these are the last parameters first, from then on those
// first that were complete first on rank 0. A model whose gradients fit into one bucket has nothing to overlap.
//
// In a model with layers that measure over all ranks, nn.SyncBatchNorm, all ranks must
// make each pass together: with examples on all of them (data.DropLast), or else
// with [Gradients.Idle]. The gradients of such a model go when all are there, since
// nothing says in which order they and the sums of its layers would come.
//
// It is for one goroutine.
type Gradients struct {
	group  *Group
	model  any
	limit  int // bytes of a bucket
	params []*tensor.Tensor
	sorted bool      // the buckets are in the order in which gradients are complete
	whole  []*bucket // in the order in which they are sent
	across *across   // for layers that measure over all ranks; nil without any
	time   Overlap
}

// Overlap says what the exchange of gradients has cost.
type Overlap struct {
	Busy    time.Duration // numbers were on their way, or added up
	Waiting time.Duration // of that the rank had nothing else to do
}

// waiting measures how long a rank has nothing to do but to wait for the others, until
// what it returns is called.
func (o *Overlap) waiting(what string, bytes int) (end func()) {
	begin := time.Now()
	told := tell(trace.Exchanging, what, bytes)
	return func() {
		told()
		o.Busy += time.Since(begin)
		o.Waiting += time.Since(begin)
	}
}

// tell has a profile know of a stretch of time, if one is being taken.
func tell(kind trace.Kind, what string, bytes int) (end func()) {
	c := trace.Profile()
	if c == nil {
		return func() {}
	}
	begin := c.Now()
	return func() { c.Event(kind, what, begin, bytes) }
}

// Hidden is the share of the exchange during which gradients were computed, from 0 to 1.
func (o Overlap) Hidden() float64 {
	if o.Busy <= 0 {
		return 0
	}
	return max(0, 1-o.Waiting.Seconds()/o.Busy.Seconds())
}

// NewGradients adds up the gradients of the parameters that nn.Parameters finds in a
// model, in buckets of the group's size ([Bucket]).
func NewGradients(g *Group, model any) *Gradients {
	return &Gradients{group: g, model: model, limit: g.bucket}
}

// Overlap is what the exchange has cost so far.
func (s *Gradients) Overlap() Overlap { return s.time }

// Backward is loss.Backward on all ranks: each parameter then has the sum of the
// gradients of the ranks' losses, each times the rank's share of the examples. A rank
// without examples gives nil and 0, which is an error where layers measure over all
// ranks and wait for this one. Gradients that are there already are added, once.
//
// Errors are those of [Group.AllReduce]. When the computation of this rank panics, the
// others are told, and it goes on panicking.
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
	// Sums, called after Backward, gives single numbers, float32, that are added up with
	// the gradients, as many on each rank; nil for none.
	Sums func() []*tensor.Tensor
	// Votes are numbers of the host that are added up meanwhile, in place.
	Votes []float64
}

// Exchange makes one: afterwards the parameters have the sums of the gradients over all
// ranks, and the tensors that it returns are the sums of the Sums.
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
		if !done { // it panics
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

// sort makes new buckets, in the order in which the gradients were complete on rank 0;
// those that were not come last.
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

// bucket is gradients that go together.
type bucket struct {
	params []*tensor.Tensor
	wide   bool // float64
	last   bool // which the Sums go with
	length int  // numbers of the gradients
}

// arrange puts the parameters into buckets, unless they are there: the last ones first.
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

// fill makes the buckets of parameters in the order in which they are to be sent.
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

// Begin gives all ranks the tensors that the model of rank 0 has, parameters and what
// layers measure. It fails where the models differ, and says in what. Layers that have no
// parameters yet, because they have seen no input, get those of rank 0, which must have
// them if it has others.
//
// On GPUs it also has them meet: gradients are then added up by NCCL, where that is found
// on all ranks, and else by way of the hosts; see [Group.Through].
//
// Layers that measure over all ranks do so from now on, until [Gradients.End] or the end
// of ctx, which they heed.
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
