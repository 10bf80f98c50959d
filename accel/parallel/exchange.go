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
	bucket *bucket
	flat   *tensor.Tensor // the values; nil if empty
	host   hostValues     // the same, if the host reduces
	err    error
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
			p.err = p.host.sum(ctx, x.group)
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
			if x.communicator != nil {
				p.err = tensors.AllReduce(x.ctx, x.communicator, p.flat)
			} else {
				p.host = valuesOf(p.flat)
			}
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

// hostValues are the values of a tensor of float32 or float64 on the host, in its own memory if possible.
type hostValues struct {
	float32s []float32
	float64s []float64
	copied   bool
}

func valuesOf(t *tensor.Tensor) hostValues {
	memory, isFloat64 := tensors.Memory(t), t.DType() == tensor.Float64
	switch {
	case memory != nil && isFloat64:
		return hostValues{float64s: numbersOf[float64](memory)}
	case memory != nil:
		return hostValues{float32s: numbersOf[float32](memory)}
	case isFloat64:
		return hostValues{float64s: t.Float64s(), copied: true}
	}
	return hostValues{float32s: t.Data(), copied: true}
}

// sum replaces the values by their sums over the ranks.
func (v hostValues) sum(ctx context.Context, g *Group) error {
	if v.float64s != nil {
		return g.AllReduceFloat64(ctx, v.float64s, Sum)
	}
	return g.AllReduce(ctx, v.float32s, Sum)
}

// of returns the values as a tensor of the shape of t, whose values they were; t is used up.
func (v hostValues) of(t *tensor.Tensor) *tensor.Tensor {
	if !v.copied {
		return t
	}
	defer t.Release()
	if v.float64s != nil {
		return tensor.FromFloat64s(v.float64s, t.Shape()...)
	}
	return tensor.New(v.float32s, t.Shape()...)
}

// sumTensor returns the sum of t over the ranks of a group; t is used up. 16-bit floats are summed in float32.
func (g *Group) sumTensor(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if dtype := t.DType(); dtype.Is16Bit() {
		wide := t.Cast(tensor.Float32)
		t.Release()
		sum, err := g.sumTensor(ctx, wide)
		if err != nil {
			return nil, err
		}
		defer sum.Release()
		return sum.Cast(dtype), nil
	}
	if on := g.devicesJoined(); on != nil {
		err := tensors.AllReduce(ctx, on, t)
		if err == nil {
			err = on.Wait()
		}
		if err != nil {
			return nil, g.deviceFailed(err)
		}
		return t, nil
	}
	values := valuesOf(t)
	if err := values.sum(ctx, g); err != nil {
		return nil, err
	}
	return values.of(t), nil
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
		flat := p.host.of(p.flat)
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
