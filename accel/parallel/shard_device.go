package parallel

import (
	"context"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// inFlight is what the devices of a bucket's ranks exchange while they compute something else.
type inFlight struct {
	tensor *tensor.Tensor // the result, once work is done; nil if nothing has been started
	work   tensors.Work
}

// wait makes the device wait for the result, which is the caller's.
func (f *inFlight) wait(g *Group) (*tensor.Tensor, error) {
	t, err := f.tensor, f.work.Wait()
	*f = inFlight{}
	if err != nil {
		return nil, g.deviceFailed(err)
	}
	return t, nil
}

// deviceFailed breaks the group with an error of its devices.
func (g *Group) deviceFailed(err error) error {
	return g.breakWith(fmt.Errorf("parallel: rank %d: %w", g.rankInWhole(g.Rank()), err))
}

// plain runs f, which makes temporary tensors by keep, without gradients and casts.
func plain(f func(keep func(*tensor.Tensor) *tensor.Tensor) error) (err error) {
	tensor.NoGrad(func() {
		tensor.Autocast(tensor.Float32, func() {
			var made []*tensor.Tensor
			err = f(func(t *tensor.Tensor) *tensor.Tensor {
				made = append(made, t)
				return t
			})
			for _, t := range made {
				t.Release()
			}
		})
	})
	return err
}

// join returns a list of tensors as one along an axis.
func join(keep func(*tensor.Tensor) *tensor.Tensor, along int, parts []*tensor.Tensor) *tensor.Tensor {
	if len(parts) == 1 {
		return parts[0]
	}
	return keep(tensor.Concat(along, parts...))
}

// zeros returns zeros of a type that are no parameter's.
func zeros(keep func(*tensor.Tensor) *tensor.Tensor, dtype tensor.DType, shape ...int) *tensor.Tensor {
	z := keep(tensor.Zeros(shape...))
	if dtype == tensor.Float32 {
		return z
	}
	return keep(z.Cast(dtype))
}

// padded returns a vector with zeros at its end, so that it has n elements.
func padded(keep func(*tensor.Tensor) *tensor.Tensor, t *tensor.Tensor, n int) *tensor.Tensor {
	if t.Numel() == n {
		return t
	}
	return keep(t.Pad(0, 0, n-t.Numel()))
}

// gatherOnDevices is gather between devices. While a bucket is unpacked, the next one is on its way.
func (d *distribution) gatherOnDevices(ctx context.Context, on *tensors.Communicator, u *unit) error {
	for i := range u.buckets {
		for _, b := range u.buckets[i:min(i+2, len(u.buckets))] {
			if err := d.startGather(ctx, on, b); err != nil {
				return err
			}
		}
		if err := d.unpack(u.buckets[i]); err != nil {
			return err
		}
	}
	return nil
}

// startGather starts to gather a bucket, unless that has been done.
func (d *distribution) startGather(ctx context.Context, on *tensors.Communicator, b *shardBucket) error {
	if b.gathered.tensor != nil {
		return nil
	}
	dp := d.mesh.DP
	return plain(func(keep func(*tensor.Tensor) *tensor.Tensor) (err error) {
		var parts []*tensor.Tensor
		for _, p := range b.parts {
			each := p.each(dp.Size())
			if p.shard == nil {
				parts = append(parts, zeros(keep, p.dtype, each))
			} else {
				parts = append(parts, padded(keep, p.shard, each))
			}
		}
		if b.gathered.tensor, b.gathered.work, err = tensors.AllGather(ctx, on, join(keep, 0, parts)); err != nil {
			return dp.deviceFailed(err)
		}
		return nil
	})
}

// unpack gives the model the whole parameters of a bucket that has been gathered.
func (d *distribution) unpack(b *shardBucket) error {
	ranks := d.mesh.DP.Size()
	whole, err := b.gathered.wait(d.mesh.DP) // [ranks, length]
	if err != nil {
		return err
	}
	return plain(func(keep func(*tensor.Tensor) *tensor.Tensor) error {
		keep(whole)
		for i, p := range b.parts {
			each := p.each(ranks)
			elements := keep(keep(whole.Slice(1, b.offsets[i], b.offsets[i]+each)).Reshape(ranks * each))
			if n := p.tensor.Numel(); n < ranks*each {
				elements = keep(elements.Slice(0, 0, n))
			}
			p.tensor.Assign(keep(elements.Reshape(p.tensor.Shape()...)))
		}
		tensor.Flush() // frees the values before
		return nil
	})
}

// prefetch starts to gather the unit that is needed after one, in a forward or a backward pass.
func (d *distribution) prefetch(ctx context.Context, u *unit, backward bool) error {
	on := d.mesh.DP.devicesJoined()
	if on == nil {
		return nil
	}
	at, step := slices.Index(d.units, u), 1
	if backward {
		step = -1
	}
	for at += step; at >= 0 && at < len(d.units); at += step {
		next := d.units[at]
		if len(next.buckets) == 0 {
			continue
		}
		for _, b := range next.buckets {
			if err := d.startGather(ctx, on, b); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// reduceOnDevices starts to sum the gradients of a bucket between the devices. At most one other bucket is on its way,
// so that no more memory is needed.
func (d *distribution) reduceOnDevices(ctx context.Context, on *tensors.Communicator, b *shardBucket) error {
	if err := d.settle(); err != nil {
		return err
	}
	dp := d.mesh.DP
	err := plain(func(keep func(*tensor.Tensor) *tensor.Tensor) (err error) {
		var parts []*tensor.Tensor
		for i, p := range b.parts {
			each := p.each(dp.Size())
			g := p.tensor.Grad()
			if g == nil {
				wide := tensor.Float32
				if p.dtype == tensor.Float64 {
					wide = tensor.Float64
				}
				parts = append(parts, zeros(keep, wide, dp.Size(), each))
				continue
			}
			b.present[i] = true
			if keep(g); g.DType().Is16Bit() {
				g = keep(g.Cast(tensor.Float32))
			}
			vector := padded(keep, keep(g.Reshape(g.Numel())), dp.Size()*each)
			parts = append(parts, keep(vector.Reshape(dp.Size(), each)))
		}
		if b.summed.tensor, b.summed.work, err = tensors.ReduceScatter(ctx, on, join(keep, 1, parts)); err != nil {
			return dp.deviceFailed(err)
		}
		for _, p := range b.parts {
			p.tensor.ZeroGrad()
		}
		return nil
	})
	d.reducing = b
	return err
}

// settle waits for the sums that are on their way, and adds them to those of the passes before.
func (d *distribution) settle() error {
	b := d.reducing
	if b == nil {
		return nil
	}
	d.reducing = nil
	sums, err := b.summed.wait(d.mesh.DP)
	if err != nil {
		return err
	}
	return plain(func(keep func(*tensor.Tensor) *tensor.Tensor) error {
		keep(sums)
		for i, p := range b.parts {
			if p.shard != nil {
				b.add(i, sums.Slice(0, b.offsets[i], b.offsets[i]+p.to-p.from))
			}
		}
		tensor.Flush() // frees what has been summed
		return nil
	})
}

// add adds this rank's part of the sums of a parameter to those of the passes before; sum is used up.
func (b *shardBucket) add(i int, sum *tensor.Tensor) {
	if b.reduced[i] != nil {
		both := b.reduced[i].Add(sum)
		sum.Release()
		b.reduced[i].Release()
		sum = both
	}
	b.reduced[i] = sum
}
