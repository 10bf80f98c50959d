package parallel

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// unit is a layer whose parameters ZeRO 3 gathers and drops together.
type unit struct {
	module  nn.Module
	buckets []*shardBucket
}

// shardBucket is a list of parameters of one element type that are gathered, or whose gradients are
// reduced, in one exchange. In its flat form, rank r's part of each parameter follows that of the
// parameter before, from r·length on, so that the parts of a rank are contiguous.
type shardBucket struct {
	parts    []*part
	offsets  []int // of each part in the region of a rank
	length   int   // of the region of a rank, in elements
	dtype    tensor.DType
	complete int // number of complete gradients in a backward pass of ZeRO 2

	reduced []*tensor.Tensor // this rank's part of the sums of a Backward; nil before
	present []bool           // whether a parameter has had a gradient on this rank

	gathered, summed inFlight // between devices
}

// shard divides the parameters of this stage among the ranks along DP, and drops what this rank does
// not need.
func (d *distribution) shard() (*DistributedModel, error) {
	m := &DistributedModel{Parts: map[string]*tensor.Tensor{}, work: d}
	ranks := d.mesh.DP.Size()
	most := 0 // replicas that have a part of a parameter
	for _, p := range d.local {
		if !p.trained {
			continue
		}
		p.shard, p.to = p.tensor, p.tensor.Numel()
		if ranks > 1 {
			each := p.each(ranks)
			most = max(most, (p.tensor.Numel()+each-1)/max(each, 1))
			p.from, p.to = p.elementsOf(d.mesh.DP.Rank(), ranks)
			p.shard = nil
			if size := p.dtype.Size(); p.to > p.from {
				raw := p.tensor.Raw()[p.from*size : p.to*size]
				p.shard = tensor.Parameter(tensor.FromRaw(p.dtype, raw, p.to-p.from))
			}
		}
		if p.shard != nil {
			m.Parts[p.name] = p.shard
		}
	}
	var few error
	if ranks > 1 && most < ranks {
		few = fmt.Errorf("parallel: Distribute: the model has so few parameters that replica %d of %d would have none: use fewer ranks along DP", most, ranks)
	}
	if err := d.mesh.Group.agree(d.ctx, few); err != nil { // only the stage with few parameters knows
		return nil, err
	}
	d.mark(true)
	for _, p := range d.parts {
		if !p.on(d.mesh.PP.Rank()) {
			p.drop()
		}
	}
	d.makeUnits()
	return m, nil
}

// each returns the number of elements that all but the last ranks have of the parameter.
func (p *part) each(ranks int) int { return (p.tensor.Numel() + ranks - 1) / ranks }

// elementsOf returns which elements of the parameter a rank along DP has.
func (p *part) elementsOf(rank, ranks int) (from, to int) {
	n, each := p.tensor.Numel(), p.each(ranks)
	return min(rank*each, n), min((rank+1)*each, n)
}

// drop replaces the parameter in the model by NaN, which need no memory and show that a computation
// has used it by mistake.
func (p *part) drop() {
	if !p.dtype.IsFloat() {
		return
	}
	tensor.NoGrad(func() {
		one := tensor.Full(math.NaN())
		typed := one.Cast(p.dtype)
		all := typed.Expand(p.tensor.Shape()...)
		p.tensor.Assign(all)
		for _, t := range []*tensor.Tensor{one, typed, all} {
			t.Release()
		}
	})
}

// makeUnits groups the divided parameters: with ZeRO 3 by the layer that uses them, those that several
// layers use apart, and else all together, the last ones first, as their gradients are computed.
func (d *distribution) makeUnits() {
	if d.mesh.DP.Size() == 1 {
		return
	}
	mine := map[*tensor.Tensor]*part{}
	for _, p := range d.local {
		if p.trained {
			mine[p.tensor] = p
		}
	}
	if d.zero < 3 {
		var parts []*part
		for _, p := range slices.Backward(d.local) {
			if p.trained {
				parts = append(parts, p)
			}
		}
		d.shared = &unit{buckets: d.fill(parts)}
		return
	}
	uses := map[*part]int{}
	for _, l := range d.layers {
		for _, t := range nn.Parameters(l) {
			uses[mine[t]]++
		}
	}
	var several []*part
	for _, p := range d.local {
		if uses[p] > 1 {
			several = append(several, p)
		}
	}
	d.shared = &unit{buckets: d.fill(several)}
	for _, l := range d.layers {
		var own []*part
		for _, t := range nn.Parameters(l) {
			if uses[mine[t]] == 1 {
				own = append(own, mine[t])
			}
		}
		d.units = append(d.units, &unit{module: l, buckets: d.fill(own)})
	}
	for _, u := range d.allUnits() {
		u.drop()
	}
}

// allUnits returns the units, with that of the parameters that several layers use.
func (d *distribution) allUnits() []*unit { return append([]*unit{d.shared}, d.units...) }

// fill divides parameters into buckets of the size of option Bucket.
func (d *distribution) fill(parts []*part) (buckets []*shardBucket) {
	var now *shardBucket
	for _, p := range parts {
		each := p.each(d.mesh.DP.Size())
		if now == nil || now.dtype != p.dtype || (now.length+each)*d.mesh.DP.Size()*p.dtype.Size() > d.mesh.DP.bucket {
			now = &shardBucket{dtype: p.dtype}
			buckets = append(buckets, now)
		}
		now.parts, now.offsets = append(now.parts, p), append(now.offsets, now.length)
		now.length += each
	}
	for _, b := range buckets {
		b.reduced, b.present = make([]*tensor.Tensor, len(b.parts)), make([]bool, len(b.parts))
	}
	return buckets
}

// gather gives the model the whole parameters of a unit.
func (d *distribution) gather(ctx context.Context, u *unit) error {
	if on := d.mesh.DP.devicesJoined(); on != nil {
		return d.gatherOnDevices(ctx, on, u)
	}
	for _, b := range u.buckets {
		dp, width := d.mesh.DP, b.dtype.Size()
		flat := make([]byte, dp.Size()*b.length*width)
		mine := flat[dp.Rank()*b.length*width:]
		for i, p := range b.parts {
			if p.shard != nil {
				copy(mine[b.offsets[i]*width:], p.shard.Raw())
			}
		}
		if err := dp.allGatherBytes(ctx, flat, width); err != nil {
			return err
		}
		tensor.NoGrad(func() {
			for i, p := range b.parts {
				whole := make([]byte, p.tensor.Numel()*width)
				each := p.each(dp.Size()) * width
				for r := 0; r*each < len(whole); r++ {
					copy(whole[r*each:min((r+1)*each, len(whole))], flat[(r*b.length+b.offsets[i])*width:])
				}
				t := tensor.FromRaw(p.dtype, whole, p.tensor.Shape()...)
				p.tensor.Assign(t)
				t.Release()
			}
			tensor.Flush() // frees the values before
		})
	}
	return nil
}

// drop drops the whole parameters of a unit.
func (u *unit) drop() {
	for _, b := range u.buckets {
		for _, p := range b.parts {
			p.drop()
		}
	}
}

// gatherUpdated gives the model the parameters that the optimizer may have changed, and that it needs
// all the time.
func (d *distribution) gatherUpdated(ctx context.Context) error {
	if d.shared == nil || !d.stale && d.zero < 3 {
		return nil
	}
	d.stale = false
	return d.gather(ctx, d.shared)
}

// forwardLocal computes the layers of this stage.
func (d *distribution) forwardLocal(x *tensor.Tensor) *tensor.Tensor {
	if d.units == nil {
		return d.stage.Forward(x)
	}
	for _, u := range d.units {
		x = d.forwardUnit(u, x)
	}
	return x
}

// forwardUnit gathers the parameters of a layer for its computation. They are gathered again for its
// gradient, because the layer is computed again for that. When the gradient of its input is computed,
// those of its parameters are complete. Between devices, the parameters of the next layer are gathered while this one
// is computed.
func (d *distribution) forwardUnit(u *unit, x *tensor.Tensor) *tensor.Tensor {
	if len(u.buckets) == 0 {
		return u.module.Forward(x)
	}
	entered := tensors.Exchange(x, nil, func(dy *tensor.Tensor) *tensor.Tensor {
		d.mustReduce(u)
		return dy
	})
	defer entered.Release()
	backward := false // from the second time on
	return tensor.Recompute(func(in []*tensor.Tensor) *tensor.Tensor {
		err := d.gather(d.ctx, u)
		if err == nil {
			err = d.prefetch(d.ctx, u, backward)
		}
		if backward = true; err != nil {
			panic(&tensor.AllReduceError{Op: "ZeRO", Err: err})
		}
		y := u.module.Forward(in[0])
		tensor.Flush() // so that the parameters are not needed any more
		u.drop()
		return y
	}, entered)
}

func (d *distribution) mustReduce(u *unit) {
	for _, b := range u.buckets {
		if err := d.reduce(d.ctx, b); err != nil {
			panic(&tensor.AllReduceError{Op: "ZeRO", Err: err})
		}
	}
}

// backwardLocal runs a backward pass, and reduces the gradients that ZeRO 2 and 3 divide.
func (d *distribution) backwardLocal(run func()) {
	if d.shared == nil || d.zero == 1 {
		run()
		return
	}
	if d.zero == 3 {
		run()
		for _, u := range d.allUnits() { // those of the first layer, whose input needs no gradient
			if u.pending() {
				d.mustReduce(u)
			}
		}
		return
	}
	next := 0
	for _, b := range d.shared.buckets {
		b.complete = 0
		for _, p := range b.parts {
			tensors.AfterGrad(p.tensor, func() {
				for b.complete++; next < len(d.shared.buckets) && d.shared.buckets[next].complete == len(d.shared.buckets[next].parts); next++ {
					d.mustReduce(&unit{buckets: d.shared.buckets[next : next+1]})
				}
			})
		}
	}
	defer func() {
		for _, b := range d.shared.buckets {
			for _, p := range b.parts {
				tensors.AfterGrad(p.tensor, nil)
			}
		}
	}()
	run()
	for ; next < len(d.shared.buckets); next++ { // those with parameters without a gradient
		d.mustReduce(&unit{buckets: d.shared.buckets[next : next+1]})
	}
}

// reduce sums the gradients of a bucket over the replicas, and keeps this rank's part. The model's
// gradients are dropped. A parameter without a gradient counts as zero.
func (d *distribution) reduce(ctx context.Context, b *shardBucket) error {
	if on := d.mesh.DP.devicesJoined(); on != nil {
		return d.reduceOnDevices(ctx, on, b)
	}
	if b.dtype == tensor.Float64 {
		return reduceBucket(d, b, (*tensor.Tensor).Float64s, func(flat []float64) ([]float64, error) {
			return d.mesh.DP.ReduceScatterFloat64(ctx, flat, Sum)
		}, func(sums []float64) *tensor.Tensor { return tensor.FromFloat64s(sums, len(sums)) })
	}
	return reduceBucket(d, b, (*tensor.Tensor).Data, func(flat []float32) ([]float32, error) {
		return d.mesh.DP.ReduceScatter(ctx, flat, Sum)
	}, func(sums []float32) *tensor.Tensor { return tensor.New(sums, len(sums)) })
}

func reduceBucket[T float32 | float64](d *distribution, b *shardBucket, read func(*tensor.Tensor) []T, sum func([]T) ([]T, error), made func([]T) *tensor.Tensor) (err error) {
	ranks := d.mesh.DP.Size()
	flat := make([]T, ranks*b.length)
	for i, p := range b.parts {
		g := p.tensor.Grad()
		if g == nil {
			continue
		}
		b.present[i] = true
		values, each := read(g), p.each(ranks)
		for r := 0; r*each < len(values); r++ {
			copy(flat[r*b.length+b.offsets[i]:], values[r*each:min((r+1)*each, len(values))])
		}
		g.Release()
		p.tensor.ZeroGrad()
	}
	own, err := sum(flat)
	if err != nil {
		return err
	}
	tensor.NoGrad(func() {
		for i, p := range b.parts {
			if p.shard != nil {
				b.add(i, made(own[b.offsets[i]:b.offsets[i]+p.to-p.from]))
			}
		}
		tensor.Flush() // frees the gradients
	})
	return nil
}

// pending reports whether a gradient of the unit has not been reduced. It is the same on all
// replicas, since they make the same passes.
func (u *unit) pending() bool {
	for _, b := range u.buckets {
		for _, p := range b.parts {
			if g := p.tensor.Grad(); g != nil {
				g.Release()
				return true
			}
		}
	}
	return false
}

// reduceRest reduces what the backward passes have left, and gives the sums to the optimizer. A
// parameter that has no gradient on any replica gets none.
func (d *distribution) reduceRest(ctx context.Context) error {
	if d.shared == nil {
		return nil
	}
	var buckets []*shardBucket
	for _, u := range d.allUnits() {
		buckets = append(buckets, u.buckets...)
	}
	if d.zero == 1 {
		for _, b := range buckets {
			if err := d.reduce(ctx, b); err != nil {
				return err
			}
		}
	}
	if err := d.settle(); err != nil {
		return err
	}
	var present []float64
	for _, b := range buckets {
		for i := range b.parts {
			present = append(present, 0)
			if b.present[i] {
				present[len(present)-1] = 1
			}
		}
	}
	if err := d.mesh.DP.AllReduceFloat64(ctx, present, Sum); err != nil {
		return err
	}
	tensor.NoGrad(func() {
		at := 0
		for _, b := range buckets {
			for i, p := range b.parts {
				if p.shard != nil && present[at] > 0 && b.reduced[i] != nil {
					p.accumulate(b.reduced[i], d.factor)
				}
				if b.reduced[i] != nil {
					b.reduced[i].Release()
				}
				b.reduced[i], b.present[i] = nil, false
				at++
			}
		}
		if d.zero == 3 {
			d.shared.drop()
		}
		tensor.Flush()
	})
	return nil
}

// mark records whether the parameters of the model are parts of a whole, which only the optimizer of a DistributedModel may
// update, and Distribute rejects.
func (d *distribution) mark(parts bool) {
	if d.mesh.Group.Size() == 1 {
		return
	}
	for _, p := range d.parts {
		if p.trained {
			tensors.MarkPart(p.tensor, parts)
		}
	}
	d.whole = !parts
}

// accumulate adds a sum, times a factor, to the gradient of this rank's part.
func (p *part) accumulate(sum *tensor.Tensor, factor float64) {
	next := sum.Clone()
	if factor != 1 {
		one := next
		next = one.MulScalar(factor)
		one.Release()
	}
	if p.dtype.Is16Bit() {
		wide := next
		next = wide.Cast(p.dtype)
		wide.Release()
	}
	before := p.shard.Grad()
	if before == nil {
		p.shard.SetGrad(next)
		next.Release()
		return
	}
	both := before.Add(next)
	before.Release()
	next.Release()
	tensors.ExtendGrad(p.shard, func() { p.shard.SetGrad(both) })
	both.Release()
}

// wholeOf returns the whole of a tensor that is divided as a parameter, from this rank's part: the
// parameter itself, or a state of the optimizer of the given type. All ranks get it. mine is nil where
// this rank has no elements.
func (d *distribution) wholeOf(ctx context.Context, p *part, mine *tensor.Tensor, dtype tensor.DType) (*tensor.Tensor, error) {
	var raw []byte
	if p.stages[0] == d.mesh.PP.Rank() {
		var err error
		if raw, err = d.wholeOfStage(ctx, p, mine, dtype.Size()); err != nil {
			return nil, err
		}
	}
	if d.mesh.PP.Size() > 1 {
		var err error
		if raw, err = d.mesh.PP.Broadcast(ctx, p.stages[0], raw); err != nil {
			return nil, err
		}
	}
	return tensor.FromRaw(dtype, raw, p.whole...), nil
}

// wholeOfStage gathers a tensor from the ranks of its stage.
func (d *distribution) wholeOfStage(ctx context.Context, p *part, mine *tensor.Tensor, width int) (raw []byte, err error) {
	if mine != nil {
		raw = mine.Raw()
	}
	if p.trained && d.mesh.DP.Size() > 1 {
		all, err := d.mesh.DP.AllGather(ctx, raw)
		if err != nil {
			return nil, err
		}
		raw = bytes.Join(all, nil)
	}
	if p.cut == nil {
		return raw, nil
	}
	all, err := d.mesh.TP.AllGather(ctx, raw)
	if err != nil {
		return nil, err
	}
	whole := make([]byte, len(raw)*len(all))
	for r, part := range all {
		p.cut.each(p.whole, width, r, func(inWhole, inPart, bytes int) { copy(whole[inWhole:inWhole+bytes], part[inPart:]) })
	}
	return whole, nil
}
