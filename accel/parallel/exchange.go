package parallel

import (
	"context"
	"errors"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/tensor"
)

// exchange is the reduction of the gradients of one step.
type exchange struct {
	*Gradients
	sums         []*tensor.Tensor
	completed    []int                 // number of complete gradients per bucket
	communicator *tensors.Communicator // of the device; nil if the host reduces
	ctx          context.Context
	order        []*tensor.Tensor // parameters in the order in which their gradients were completed, in the first step
	next         int              // index of the next bucket to send
	send         chan *bucketReduction
	ended        chan struct{} // closed when all buckets have been reduced

	reductions []*bucketReduction
	missing    []bool // parameters without a gradient on this rank, in the order of the buckets
	busy       time.Duration
}

// bucketReduction is a bucket during its reduction.
type bucketReduction struct {
	bucket   *bucket
	float32s []float32
	float64s []float64
	flat     *tensor.Tensor // the values; nil if empty
	copied   bool           // the values were copied to the host, which has the sums
	err      error
}

// start starts the goroutine that reduces buckets.
func (x *exchange) start(ctx context.Context) {
	x.ctx, x.communicator = ctx, x.group.devicesJoined()
	x.completed = make([]int, len(x.buckets))
	x.send = make(chan *bucketReduction, len(x.buckets))
	x.ended = make(chan struct{})
	go func() { // ends when send is closed, or when the context or the group ends
		defer close(x.ended)
		for p := range x.send {
			begin := time.Now()
			endInterval := p.bucket.profileLayers()
			if p.float64s != nil {
				p.err = x.group.AllReduceFloat64(ctx, p.float64s, Sum)
			} else {
				p.err = x.group.AllReduce(ctx, p.float32s, Sum)
			}
			endInterval()
			x.busy += time.Since(begin)
		}
	}()
}

// stop ends the goroutine of start, if there is one.
func (x *exchange) stop() {
	if x.send != nil {
		close(x.send)
		<-x.ended
	}
}

// complete is called when a gradient has been computed. Buckets are sent in the same order on
// all ranks, whichever is complete first.
func (x *exchange) complete(bucket int, p *tensor.Tensor) {
	if !x.sorted {
		x.order = append(x.order, p)
		return
	}
	x.completed[bucket]++
	if x.reducer != nil { // otherwise the order relative to the layers' collectives could differ between ranks
		return
	}
	for x.next < len(x.buckets) && x.completed[x.next] == len(x.buckets[x.next].params) && !x.buckets[x.next].last {
		x.dispatch()
	}
}

// dispatch sends the next bucket, with zeros for missing gradients.
func (x *exchange) dispatch() {
	b := x.buckets[x.next]
	x.next++
	p := &bucketReduction{bucket: b}
	tensor.NoGrad(func() {
		var parts, made []*tensor.Tensor
		keep := func(t *tensor.Tensor) *tensor.Tensor {
			made = append(made, t)
			return t
		}
		for _, param := range b.params {
			g := param.Grad()
			x.missing = append(x.missing, g == nil)
			if g == nil {
				parts = append(parts, keep(tensor.Zeros(param.Numel())))
				if b.isFloat64 {
					parts[len(parts)-1] = keep(parts[len(parts)-1].Cast(tensor.Float64))
				}
				continue
			}
			keep(g)
			if g.DType().Is16Bit() {
				g = keep(g.Cast(tensor.Float32))
			}
			parts = append(parts, keep(g.Reshape(-1)))
		}
		if b.last {
			for _, s := range x.sums {
				parts = append(parts, keep(s.Reshape(1)))
			}
		}
		if len(parts) > 0 {
			p.flat = tensor.Concat(0, parts...)
			if len(parts) == 1 { // the tensor may be in use elsewhere
				p.flat = keep(p.flat).Clone()
			}
			p.pack(x, b.isFloat64)
		}
		for _, t := range made {
			t.Release()
		}
	})
	x.reductions = append(x.reductions, p)
	if x.communicator == nil {
		x.send <- p
	}
}

// pack starts the reduction on the device, or passes the values to the host, in place or as a
// copy.
func (p *bucketReduction) pack(x *exchange, isFloat64 bool) {
	if x.communicator != nil {
		p.err = tensors.AllReduce(x.ctx, x.communicator, p.flat)
		return
	}
	memory := tensors.Memory(p.flat)
	switch {
	case memory != nil && isFloat64:
		p.float64s = numbersOf[float64](memory)
	case memory != nil:
		p.float32s = numbersOf[float32](memory)
	case isFloat64:
		p.float64s, p.copied = p.flat.Float64s(), true
	default:
		p.float32s, p.copied = p.flat.Data(), true
	}
}

// sums returns the sums as a tensor.
func (p *bucketReduction) sums(isFloat64 bool) *tensor.Tensor {
	if !p.copied {
		return p.flat
	}
	p.flat.Release()
	if isFloat64 {
		return tensor.FromFloat64s(p.float64s, len(p.float64s))
	}
	return tensor.New(p.float32s, len(p.float32s))
}

// finish sends the remaining buckets, waits for all, and sets the gradients of the parameters.
func (x *exchange) finish(ctx context.Context, hostValues []float64) (sums []*tensor.Tensor, err error) {
	for x.next < len(x.buckets) {
		x.dispatch()
	}
	close(x.send)
	begin := time.Now()
	endInterval := profileInterval(trace.CommunicationWait, "gradients", 0)
	<-x.ended
	endInterval()
	x.time.Waiting += time.Since(begin)
	x.time.Busy += x.busy
	for _, p := range x.reductions {
		err = errors.Join(err, p.err)
	}
	if x.communicator != nil {
		err = errors.Join(err, x.communicator.Wait())
	}
	if err != nil {
		return nil, x.group.breakWith(err)
	}
	endWaiting := x.time.waiting("host values", 8*(len(hostValues)+1))
	absent, err := x.reduceHostValues(ctx, hostValues)
	endWaiting()
	if err != nil {
		return nil, err
	}
	tensor.NoGrad(func() { sums = x.unpack(absent) })
	return sums, nil
}

// reduceHostValues reduces the host values and finds the parameters that have no gradient on any rank.
func (x *exchange) reduceHostValues(ctx context.Context, hostValues []float64) (absent []bool, err error) {
	all := make([]float64, len(hostValues)+1)
	copy(all, hostValues)
	for _, m := range x.missing {
		if m {
			all[len(hostValues)]++
		}
	}
	if err := x.group.AllReduceFloat64(ctx, all, Sum); err != nil {
		return nil, err
	}
	copy(hostValues, all)
	if all[len(hostValues)] == 0 { // the usual case
		return nil, nil
	}
	count := make([]float64, len(x.missing))
	for i, m := range x.missing {
		if m {
			count[i] = 1
		}
	}
	if err := x.group.AllReduceFloat64(ctx, count, Sum); err != nil {
		return nil, err
	}
	absent = make([]bool, len(count))
	for i, n := range count {
		absent[i] = int(n) == x.group.Size()
	}
	return absent, nil
}

// unpack sets the gradients of the parameters to the sums.
func (x *exchange) unpack(absent []bool) (sums []*tensor.Tensor) {
	at := 0
	for i, b := range x.buckets {
		p := x.reductions[i]
		if p.flat == nil {
			continue
		}
		flat := p.sums(b.isFloat64)
		from := 0
		for _, param := range b.params {
			to := from + param.Numel()
			if absent == nil || !absent[at] {
				x.assign(param, flat, from, to)
			}
			at++
			from = to
		}
		if b.last {
			for i := range x.sums {
				part := flat.Slice(0, from+i, from+i+1)
				sums = append(sums, part.Reshape())
				part.Release()
			}
		}
		flat.Release()
	}
	return sums
}

// assign sets the gradient of a parameter to a part of a bucket.
func (x *exchange) assign(param, flat *tensor.Tensor, from, to int) {
	part := flat.Slice(0, from, to)
	g := part.Reshape(param.Shape()...)
	if d := param.DType(); d.Is16Bit() {
		narrow := g.Cast(d)
		g.Release()
		g = narrow
	}
	param.SetGrad(g)
	g.Release()
	part.Release()
}
