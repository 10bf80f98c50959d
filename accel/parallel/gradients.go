package parallel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
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
// computed. They have the order in which gradients are completed on rank 0; the first step finds
// this order, and sends all gradients at its end. If all fit into one bucket, nothing overlaps.
//
// In a model with layers that compute statistics over all ranks, such as nn.SyncBatchNorm, all
// ranks must make each pass together: with examples on all of them (data.DropLast), or with
// [Gradients.Idle]. The gradients of such a model are sent when all are complete, because
// otherwise their order relative to the collectives of the layers would be undefined.
//
// It must only be used by one goroutine.
type Gradients struct {
	group   *Group
	model   any
	limit   int // maximum size of a bucket in bytes
	params  []*tensor.Tensor
	sorted  bool               // the buckets have the order in which gradients are completed
	buckets []*bucket          // in sending order
	reducer *statisticsReducer // for layers that synchronize over all ranks; nil if none
	time    Overlap
}

// Overlap is the cost of the gradient exchange.
type Overlap struct {
	Busy    time.Duration // time of transfers and reductions
	Waiting time.Duration // part of Busy in which the rank had nothing else to do
}

// waiting measures how long a rank waits for others, until the returned function is called.
func (o *Overlap) waiting(what string, bytes int) (end func()) {
	begin := time.Now()
	endInterval := profileInterval(trace.CommunicationWait, what, bytes)
	return func() {
		endInterval()
		o.Busy += time.Since(begin)
		o.Waiting += time.Since(begin)
	}
}

// profileInterval reports an interval to the profiler, if a profile is being taken.
func profileInterval(kind trace.Kind, what string, bytes int) (end func()) {
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
// passes nil and 0; with layers that synchronize over all ranks this is an error. Existing
// gradients are added once. They equal those of one process if the loss is a mean over the examples, but not if it divides by weights that
// differ from rank to rank, such as those of classes.
//
// Errors are those of [Group.AllReduce]. If the computation of this rank panics, the others are
// notified, and the panic continues.
func (s *Gradients) Backward(ctx context.Context, loss *tensor.Tensor, share float64) error {
	if loss == nil && s.Synchronized() {
		err := fmt.Errorf("parallel: rank %d has no examples, but nn.SyncBatchNorm needs some on each rank: drop the smaller last batch (data.DropLast), or use Gradients.Idle", s.group.Rank())
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
	// HostValues are values on the host that are reduced in place, while the gradients are.
	HostValues []float64
}

// Exchange runs one exchange: afterwards the parameters have the sums of the gradients over all
// ranks. It returns the reduced Sums.
func (s *Gradients) Exchange(ctx context.Context, e Exchange) (sums []*tensor.Tensor, err error) {
	if err := interrupt.RequireContext(ctx, "parallel: Gradients.Exchange"); err != nil {
		return nil, err
	}
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
	if s.group.OnDevices() {
		defer s.group.abortWhenDone(ctx)()
	}
	s.arrange()
	x := &exchange{Gradients: s}
	if s.sorted {
		x.start(ctx)
	}
	done := false
	defer func() {
		for _, p := range s.params {
			tensors.AfterGrad(p, nil)
		}
		if !done {
			x.stop()
		}
	}()
	defer s.group.failUnless(&done)
	for i, b := range s.buckets {
		for _, p := range b.params {
			tensors.AfterGrad(p, func() { x.complete(i, p) })
		}
	}
	e.Backward()
	if e.Sums != nil {
		x.sums = e.Sums()
	}
	done = true
	if !s.sorted {
		if err := s.sort(ctx, x.order); err != nil {
			return nil, err
		}
		x.start(ctx)
	}
	return x.finish(ctx, e.HostValues)
}

// sort makes new buckets in the order in which gradients were completed on rank 0; parameters
// without a gradient come last. It does so before the first exchange: sums in other buckets are
// rounded in another order, so that a training that is resumed would differ in its first step.
func (s *Gradients) sort(ctx context.Context, complete []*tensor.Tensor) error {
	s.sorted = true
	var mine []int
	for _, p := range complete {
		mine = append(mine, slices.Index(s.params, p))
	}
	all, err := gatherJSON(ctx, s.group, mine)
	if err != nil {
		return err
	}
	var params []*tensor.Tensor
	for _, i := range all[0] {
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
	params    []*tensor.Tensor
	layers    []layerBytes // of the parameters, in their order
	isFloat64 bool
	last      bool // it includes the Sums
	length    int  // number of elements
}

// layerBytes is how many bytes of a bucket belong to a layer.
type layerBytes struct {
	layer string // its path in the model; "" for the model itself
	bytes int
}

// profileLayers reports to the profiler, if a profile is being taken, how the layers of a bucket share the time of its reduction,
// which is assumed to be proportional to their bytes.
func (b *bucket) profileLayers() (end func()) {
	c := trace.Profile()
	if c == nil {
		return func() {}
	}
	begin := c.Now()
	return func() {
		layers, passed := b.layers, float64(c.Now()-begin)
		if len(layers) == 0 { // only the Sums
			layers = []layerBytes{{bytes: 4}}
		}
		sum, done := 0.0, 0.0
		for _, l := range layers {
			sum += float64(l.bytes)
		}
		from := begin
		for _, l := range layers {
			done += float64(l.bytes)
			to := begin + time.Duration(passed*done/sum)
			c.Add(trace.Event{Kind: trace.Communicating, Name: strings.TrimSpace("gradients " + l.layer), Begin: from, End: to, Bytes: l.bytes})
			from = to
		}
	}
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
	s.buckets = nil
	layers := map[*tensor.Tensor]string{}
	for _, p := range nn.State(s.model) {
		layers[p.Tensor] = p.Name[:max(0, strings.LastIndexByte(p.Name, '.'))]
	}
	var now *bucket
	bytes := 0
	for _, p := range params {
		isFloat64 := p.DType() == tensor.Float64
		size := p.Numel() * 4
		if isFloat64 {
			size *= 2
		}
		if now == nil || now.isFloat64 != isFloat64 || bytes+size > s.limit {
			now, bytes = &bucket{isFloat64: isFloat64}, 0
			s.buckets = append(s.buckets, now)
		}
		now.params = append(now.params, p)
		now.length += p.Numel()
		if n := len(now.layers); n == 0 || now.layers[n-1].layer != layers[p] {
			now.layers = append(now.layers, layerBytes{layer: layers[p]})
		}
		now.layers[len(now.layers)-1].bytes += size
		bytes += size
	}
	if len(s.buckets) == 0 || s.buckets[len(s.buckets)-1].isFloat64 {
		s.buckets = append(s.buckets, &bucket{})
	}
	s.buckets[len(s.buckets)-1].last = true
}

// Begin copies the tensors of rank 0's model to all ranks: parameters and state of layers. It
// returns an error that describes the difference if the models differ. Layers without
// parameters, because they have not seen an input yet, get those of rank 0, which must have all
// parameters that others have.
//
// On GPUs it also connects the devices: gradients are then reduced by NCCL if it is installed
// on all ranks, otherwise through the hosts; see [Group.Backend].
//
// Layers such as nn.SyncBatchNorm synchronize over all ranks until [Gradients.End] or until ctx
// is done.
func (s *Gradients) Begin(ctx context.Context) error {
	if err := BroadcastModel(ctx, s.group, s.model); err != nil {
		return err
	}
	if err := sameLayers(ctx, s.group, s.model); err != nil {
		return err
	}
	if err := s.group.joinDevices(ctx); err != nil {
		return err
	}
	return s.synchronize(ctx)
}
