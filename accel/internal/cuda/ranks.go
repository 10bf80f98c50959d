package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/nccl"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ ir.Joinable = (*Device)(nil)

// nccl opens NCCL.
func (d *Device) nccl() (l nccl.Library, err error) {
	if d.libraries.NCCL == nil {
		return nil, fmt.Errorf("%s: NCCL: %w", d.name, library.ErrOff)
	}
	err = d.current(func() (err error) {
		l, err = d.libraries.NCCL(d.ctx.Context)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: NCCL: %w", d.name, err)
	}
	return l, nil
}

// CanJoin returns why NCCL cannot be used; nil if it can.
func (d *Device) CanJoin() error {
	_, err := d.nccl()
	return err
}

// RanksID creates the identifier of a group of GPUs, which its first rank shares with the
// others.
func (d *Device) RanksID() ([]byte, error) {
	l, err := d.nccl()
	if err != nil {
		return nil, err
	}
	id, err := l.NewID()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.name, err)
	}
	return id[:], nil
}

// JoinRanks joins a group; it returns when the GPUs of all ranks have joined.
func (d *Device) JoinRanks(ctx context.Context, id []byte, rank, size int) (joined ir.Ranks, err error) {
	l, err := d.nccl()
	if err != nil {
		return nil, err
	}
	var name nccl.ID
	if copy(name[:], id) != len(name) || len(id) != len(name) {
		return nil, fmt.Errorf("%s: NCCL: the id has %d bytes, want %d", d.name, len(id), len(name))
	}
	r := &ranks{device: d, name: "NCCL " + l.Version()}
	err = d.current(func() (err error) {
		r.communicator, err = l.Join(ctx, name, rank, size)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.name, err)
	}
	if r.stream, err = d.ctx.NewStream(); err == nil {
		r.summed, err = d.ctx.NewEvent(false)
	}
	if err != nil {
		return nil, errors.Join(d.failed("join ranks", err), r.Abort())
	}
	return r, nil
}

// ranks adds up gradients over GPUs (all-reduce) on a stream of its own, so that kernels
// that do not need the sums run at the same time. The sums are not part of the graphs: a
// sum begins when a part of the step is done, and each part is a graph.
type ranks struct {
	device       *Device
	name         string
	communicator nccl.Communicator
	stream       driver.Stream
	summed       driver.Event // after the last sum
	waiting      []*storage   // whose sums the main stream does not wait for yet
}

func (r *ranks) Name() string { return r.name }

// types are the element types that ranks can sum.
var types = map[ir.DType]nccl.Type{ir.Float32: nccl.Float32, ir.Float64: nccl.Float64}

// Sum starts an all-reduce after the work that has written s.
func (r *ranks) Sum(ctx context.Context, s ir.Storage, offset, count int, t ir.DType) error {
	d, at := r.device, s.(*storage)
	kind, ok := types[t]
	if !ok {
		return fmt.Errorf("%s: cannot sum tensors of type %v over ranks; only float32 and float64 are supported", d.name, t)
	}
	err := d.timeline.wait(r.stream, at.written)
	if err == nil {
		err = d.profile.sum(r.stream, count*t.Size(), func() error {
			return d.current(func() error {
				return r.communicator.Sum(ctx, r.stream, at.at+driver.Pointer(offset), count, kind)
			})
		})
	}
	if err == nil {
		r.waiting = append(r.waiting, at)
		err = d.ctx.Record(r.summed, r.stream)
	}
	if err != nil {
		return d.failed("sum over ranks", err)
	}
	return nil
}

// Wait makes later kernels wait for the sums.
func (r *ranks) Wait() error {
	d := r.device
	if err := r.communicator.Err(); err != nil {
		return d.failed("sum over ranks", err)
	}
	if len(r.waiting) == 0 {
		return nil
	}
	if err := d.ctx.Wait(d.stream, r.summed); err != nil {
		return d.failed("sum over ranks", err)
	}
	err := d.mark(r.waiting...)
	clear(r.waiting)
	r.waiting = r.waiting[:0]
	return err
}

// Abort ends sums that wait for other ranks.
func (r *ranks) Abort() error { return r.communicator.Abort() }

// Close leaves the group after the sums are done.
func (r *ranks) Close() error {
	d := r.device
	if err := d.ctx.SyncStream(r.stream); err != nil {
		return errors.Join(d.failed("close ranks", err), r.communicator.Abort())
	}
	if err := d.current(r.communicator.Close); err != nil {
		return d.failed("close ranks", err)
	}
	return errors.Join(d.ctx.CloseEvent(r.summed), d.ctx.CloseStream(r.stream))
}
