package cuda

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	r := &ranks{device: d, name: "NCCL " + l.Version(), rank: rank, size: size}
	err = d.current(func() (err error) {
		r.communicator, err = l.Join(ctx, name, rank, size)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: join rank %d of %d: %w", d.name, rank, size, err)
	}
	if r.stream, err = d.ctx.NewStream(); err == nil {
		r.timeline, err = newTimeline(d.ctx)
	}
	if err != nil {
		return nil, errors.Join(d.failed("join ranks", err), r.Abort())
	}
	return r, nil
}

// ranks exchanges memory of GPUs on a stream of its own, so that kernels that do not need the
// results run at the same time. The exchanges are not part of the graphs: one begins when a part
// of the step is done, and each part is a graph.
type ranks struct {
	device       *Device
	name         string
	rank, size   int
	communicator nccl.Communicator
	stream       driver.Stream
	timeline     *timeline // of that stream
	waiting      []written // what the main stream does not wait for yet, in order
	last         string    // names of the last exchanges, for errors
}

// written is memory that is written until a point in the timeline of the exchanges.
type written struct {
	at    *storage
	point uint64
}

func (r *ranks) Name() string { return r.name }

func (r *ranks) Size() int { return r.size }

// failed returns an error of an exchange on this rank.
func (r *ranks) failed(what string, err error) error {
	return r.device.failed(fmt.Sprintf("%s on rank %d of %d", what, r.rank, r.size), err)
}

// rankOps are the functions of NCCL.
var rankOps = map[ir.RankOp]nccl.Op{
	ir.RankAllReduce: nccl.AllReduce, ir.RankReduceScatter: nccl.ReduceScatter, ir.RankAllGather: nccl.AllGather,
	ir.RankBroadcast: nccl.Broadcast, ir.RankSend: nccl.Send, ir.RankReceive: nccl.Recv,
}

// types are the element types that ranks can sum.
var types = map[ir.DType]nccl.Type{ir.Float32: nccl.Float32, ir.Float64: nccl.Float64}

// Start starts exchanges after the work that has written what they read. What they write may be memory that
// work so far still uses, unless it is also what they read.
func (r *ranks) Start(ctx context.Context, transfers ...ir.RankTransfer) (point uint64, err error) {
	d := r.device
	var calls []nccl.Call
	var names []string
	var results []*storage
	var after uint64
	bytes, fresh := 0, false
	for _, t := range transfers {
		names = append(names, t.Op.String())
		if t.Count == 0 {
			continue
		}
		c := nccl.Call{Op: rankOps[t.Op], Peer: t.Peer, Count: t.Count * t.DType.Size(), Type: nccl.Bytes}
		bytes += c.Count
		if c.Op.Reduces() {
			kind, ok := types[t.DType]
			if !ok {
				return 0, fmt.Errorf("%s: cannot sum tensors of type %v over ranks; only float32 and float64 are supported", d.name, t.DType)
			}
			c.Count, c.Type = t.Count, kind
		}
		if from, ok := t.From.Storage.(*storage); ok {
			c.From = from.at + driver.Pointer(t.From.Offset)
			after = max(after, from.written)
		}
		if to, ok := t.To.Storage.(*storage); ok {
			c.To = to.at + driver.Pointer(t.To.Offset)
			results = append(results, to)
			fresh = fresh || t.From.Storage != t.To.Storage
		}
		calls = append(calls, c)
	}
	what := strings.Join(names, " and ")
	r.last = what
	if fresh {
		if after, err = d.timeline.record(d.stream); err != nil {
			return 0, r.failed(what, err)
		}
	}
	if err = d.timeline.wait(r.stream, after); err == nil && len(calls) > 0 {
		err = d.profile.exchange(r.stream, bytes, func() error {
			return d.current(func() error { return r.communicator.Queue(ctx, r.stream, calls...) })
		})
	}
	if err == nil {
		point, err = r.timeline.record(r.stream)
	}
	if err != nil {
		return 0, r.failed(what, err)
	}
	for _, s := range results {
		r.waiting = append(r.waiting, written{s, point})
	}
	return point, nil
}

// Wait makes later kernels wait for exchanges.
func (r *ranks) Wait(point uint64) error {
	d := r.device
	if err := r.communicator.Err(); err != nil {
		return r.failed(r.last, err)
	}
	point = min(point, r.timeline.last)
	if err := r.timeline.wait(d.stream, point); err != nil {
		return r.failed(r.last, err)
	}
	var done []*storage
	for len(r.waiting) > 0 && r.waiting[0].point <= point {
		done = append(done, r.waiting[0].at)
		r.waiting = r.waiting[1:]
	}
	if len(done) == 0 {
		return nil
	}
	return d.mark(done...)
}

// Abort ends exchanges that wait for other ranks.
func (r *ranks) Abort() error { return r.communicator.Abort() }

// Close leaves the group after the exchanges are done.
func (r *ranks) Close() error {
	d := r.device
	if err := d.ctx.SyncStream(r.stream); err != nil {
		return errors.Join(r.failed("Close", err), r.communicator.Abort())
	}
	if err := d.current(r.communicator.Close); err != nil {
		return r.failed("Close", err)
	}
	return errors.Join(r.timeline.close(), d.ctx.CloseStream(r.stream))
}
