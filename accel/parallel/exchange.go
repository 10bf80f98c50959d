package parallel

import (
	"context"
	"errors"
	"time"

	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/tensor"
)

// exchange is the reduction of the gradients of one step.
type exchange struct {
	*Gradients
	sums  []*tensor.Tensor
	came  []int         // number of complete gradients per bucket
	on    *tensor.Ranks // of the device; nil if the host reduces
	ctx   context.Context
	order []*tensor.Tensor // parameters in the order in which their gradients were completed
	next  int              // index of the next bucket to send
	send  chan *parcel
	ended chan struct{} // closed when all buckets have been reduced

	parcels []*parcel
	missing []bool // parameters without a gradient on this rank, in the order of the buckets
	busy    time.Duration
}

// parcel is a bucket during its reduction.
type parcel struct {
	single []float32
	double []float64
	flat   *tensor.Tensor // the values; nil if empty
	copied bool           // the values were copied to the host, which has the sums
	err    error
}

// start starts the goroutine that reduces buckets.
func (x *exchange) start(ctx context.Context) {
	x.ctx, x.on = ctx, x.group.devicesJoined()
	x.came = make([]int, len(x.whole))
	x.send = make(chan *parcel, len(x.whole))
	x.ended = make(chan struct{})
	go func() { // ends when send is closed, or when the context or the group ends
		defer close(x.ended)
		for p := range x.send {
			begin := time.Now()
			told := tell(trace.Communicating, "gradients", 8*len(p.double)+4*len(p.single))
			if p.double != nil {
				p.err = x.group.AllReduceFloat64(ctx, p.double, Sum)
			} else {
				p.err = x.group.AllReduce(ctx, p.single, Sum)
			}
			told()
			x.busy += time.Since(begin)
		}
	}()
}

// complete is called when a gradient has been computed. Buckets are sent in the same order on
// all ranks, whichever is complete first.
func (x *exchange) complete(bucket int, p *tensor.Tensor) {
	x.order = append(x.order, p)
	x.came[bucket]++
	if x.across != nil { // otherwise collectives of its layers could be interleaved differently on other ranks
		return
	}
	for x.next < len(x.whole) && x.came[x.next] == len(x.whole[x.next].params) && !x.whole[x.next].last {
		x.dispatch()
	}
}

// dispatch sends the next bucket, with zeros for missing gradients.
func (x *exchange) dispatch() {
	b := x.whole[x.next]
	x.next++
	p := &parcel{}
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
				if b.wide {
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
			p.pack(x, b.wide)
		}
		for _, t := range made {
			t.Release()
		}
	})
	x.parcels = append(x.parcels, p)
	if x.on == nil {
		x.send <- p
	}
}

// pack starts the reduction on the device, or passes the values to the host, in place or as a
// copy.
func (p *parcel) pack(x *exchange, wide bool) {
	if x.on != nil {
		p.err = x.on.Sum(x.ctx, p.flat)
		return
	}
	memory := p.flat.Memory()
	switch {
	case memory != nil && wide:
		p.double = numbersOf[float64](memory)
	case memory != nil:
		p.single = numbersOf[float32](memory)
	case wide:
		p.double, p.copied = p.flat.Float64s(), true
	default:
		p.single, p.copied = p.flat.Data(), true
	}
}

// sums returns the reduced bucket.
func (p *parcel) sums(wide bool) *tensor.Tensor {
	if !p.copied {
		return p.flat
	}
	p.flat.Release()
	if wide {
		return tensor.FromFloat64s(p.double, len(p.double))
	}
	return tensor.New(p.single, len(p.single))
}

// finish sends the remaining buckets, waits for all, and sets the gradients of the parameters.
func (x *exchange) finish(ctx context.Context, votes []float64) (sums []*tensor.Tensor, err error) {
	for x.next < len(x.whole) {
		x.dispatch()
	}
	close(x.send)
	begin := time.Now()
	told := tell(trace.Exchanging, "gradients", 0)
	<-x.ended
	told()
	x.time.Waiting += time.Since(begin)
	x.time.Busy += x.busy
	for _, p := range x.parcels {
		err = errors.Join(err, p.err)
	}
	if x.on != nil {
		err = errors.Join(err, x.on.Wait())
	}
	if err != nil {
		return nil, x.group.breakWith(err)
	}
	voted := x.time.waiting("votes", 8*(len(votes)+1))
	absent, err := x.vote(ctx, votes)
	voted()
	if err != nil {
		return nil, err
	}
	tensor.NoGrad(func() { sums = x.unpack(absent) })
	return sums, nil
}

// vote reduces the votes, and finds the parameters without a gradient on any rank.
func (x *exchange) vote(ctx context.Context, votes []float64) (absent []bool, err error) {
	all := make([]float64, len(votes)+1)
	copy(all, votes)
	for _, m := range x.missing {
		if m {
			all[len(votes)]++
		}
	}
	if err := x.group.AllReduceFloat64(ctx, all, Sum); err != nil {
		return nil, err
	}
	copy(votes, all)
	if all[len(votes)] == 0 { // the usual case
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
	for i, b := range x.whole {
		p := x.parcels[i]
		if p.flat == nil {
			continue
		}
		flat := p.sums(b.wide)
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
