package tensors

import (
	"context"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Communicator exchanges tensors between several processes directly between their devices, not through host
// memory: on GPUs with NCCL. Package accel/parallel uses it if the device supports it.
type Communicator struct {
	ranks   ir.Ranks
	running []started // that the device does not wait for yet, in order; guarded by the engine's lock
}

// started is an exchange and its memory.
type started struct {
	point  uint64
	values []*ir.Value
}

// CheckCommunicator returns nil if the current device can exchange tensors with other processes, else an error with the
// reason. The CPU cannot, and a GPU only with NCCL.
func CheckCommunicator() error { return joinable(ir.Joinable.CanJoin) }

// NewCommunicatorID makes the ID of a new group of devices, which all ranks pass to [NewCommunicator].
func NewCommunicatorID() (id []byte, err error) {
	err = joinable(func(d ir.Joinable) (err error) {
		id, err = d.RanksID()
		return err
	})
	return id, err
}

// NewCommunicator joins the group of an ID that one rank has made. It waits until the devices of all
// ranks have joined.
func NewCommunicator(ctx context.Context, id []byte, rank, size int) (joined *Communicator, err error) {
	err = joinable(func(d ir.Joinable) error {
		ranks, err := d.JoinRanks(ctx, id, rank, size)
		if err == nil {
			joined = &Communicator{ranks: ranks}
		}
		return err
	})
	return joined, err
}

// joinable runs f with the current device, if it can exchange tensors with other processes.
func joinable(f func(d ir.Joinable) error) (err error) {
	engine.Locked(func(r *ir.Recorder) {
		if d, ok := r.Device().(ir.Joinable); ok {
			err = f(d)
		} else {
			err = fmt.Errorf("tensor: device %s cannot exchange tensors with other processes", r.Device().Name())
		}
	})
	return err
}

// String returns the library and its version.
func (r *Communicator) String() string { return r.ranks.Name() }

// AllReduce replaces the elements of t, a tensor of float32 or float64, by their sums over all ranks. All ranks must
// call it and the other collectives in the same order with equally many elements, and nothing else may read t
// meanwhile. It runs the recorded ops and does not wait for the sum: call Wait before t is used.
func AllReduce[T any](ctx context.Context, r *Communicator, t T) error {
	_, _, err := start(ctx, r, ir.RankAllReduce, t, 0)
	return err
}

// ReduceScatter returns this rank's part of the sums of t over all ranks, a vector; t has the parts of all ranks, of
// equal size, in their order. It runs the recorded ops, and the result must not be used before the Work has been
// waited for.
func ReduceScatter[T any](ctx context.Context, r *Communicator, t T) (part T, w Work, err error) {
	return start(ctx, r, ir.RankReduceScatter, t, 0)
}

// AllGather returns the elements of t, equally many on each rank, of all ranks: [ranks, elements]. It runs the
// recorded ops, and the result must not be used before the Work has been waited for.
func AllGather[T any](ctx context.Context, r *Communicator, t T) (all T, w Work, err error) {
	return start(ctx, r, ir.RankAllGather, t, 0)
}

// start starts a collective of t.
func start[T any](ctx context.Context, r *Communicator, op ir.RankOp, t T, peer int) (result T, w Work, err error) {
	engine.Locked(func(recorder *ir.Recorder) {
		v := of[T]().HoldValue(t, op.String())
		var results []*ir.Value
		if results, w, err = r.start(ctx, recorder, ir.RankExchange{Op: op, Value: v, Peer: peer}); err == nil && results[0] != v {
			result = of[T]().Wrap(results[0])
		}
	})
	return result, w, err
}

// Transfer is a tensor on its way between two ranks, or from one rank to all.
type Transfer[T any] struct {
	Peer  int      // the other rank, or the rank that broadcasts
	Sent  T        // zero if this rank receives
	Shape []int    // what it receives
	DType ir.DType // of that
}

// SendReceive sends and receives tensors, all of them at the same time; the other ranks must receive and send them in
// the same order. It returns the tensors that are received, and zero for those that are sent. It runs the recorded ops,
// and the results must not be used before the Work has been waited for.
func SendReceive[T comparable](ctx context.Context, r *Communicator, transfers ...Transfer[T]) (received []T, w Work, err error) {
	return exchange(ctx, r, ir.RankSend, ir.RankReceive, transfers)
}

// Broadcast returns the tensor of one rank on all others, and zero on that one.
func Broadcast[T comparable](ctx context.Context, r *Communicator, t Transfer[T]) (received T, w Work, err error) {
	all, w, err := exchange(ctx, r, ir.RankBroadcast, ir.RankBroadcast, []Transfer[T]{t})
	if err != nil {
		return received, w, err
	}
	return all[0], w, nil
}

func exchange[T comparable](ctx context.Context, r *Communicator, send, receive ir.RankOp, transfers []Transfer[T]) (received []T, w Work, err error) {
	received = make([]T, len(transfers))
	engine.Locked(func(recorder *ir.Recorder) {
		var none T
		exchanges := make([]ir.RankExchange, len(transfers))
		for i, t := range transfers {
			if t.Sent != none {
				exchanges[i] = ir.RankExchange{Op: send, Peer: t.Peer, Value: of[T]().HoldValue(t.Sent, send.String())}
			} else {
				exchanges[i] = ir.RankExchange{Op: receive, Peer: t.Peer, Type: ir.Type{Shape: t.Shape, DType: t.DType}}
			}
		}
		var results []*ir.Value
		if results, w, err = r.start(ctx, recorder, exchanges...); err != nil {
			return
		}
		for i, t := range transfers {
			if t.Sent == none {
				received[i] = of[T]().Wrap(results[i])
			}
		}
	})
	return received, w, err
}

// Work is an exchange that has been started. The zero Work is done.
type Work struct {
	with  *Communicator
	point uint64
}

// start starts exchanges, and holds their memory until the device waits for them.
func (r *Communicator) start(ctx context.Context, recorder *ir.Recorder, exchanges ...ir.RankExchange) ([]*ir.Value, Work, error) {
	results, point, err := recorder.StartRanks(ctx, r.ranks, exchanges...)
	if err != nil {
		return nil, Work{}, err
	}
	held := started{point: point}
	for i, e := range exchanges {
		if e.Value != nil && e.Value != results[i] {
			held.values = append(held.values, e.Value.Hold())
		}
		if v := results[i]; v != nil {
			held.values = append(held.values, v.Hold())
		}
	}
	r.running = append(r.running, held)
	return results, Work{r, point}, nil
}

// Wait makes the device run everything recorded from now on after the exchange and those before it. It returns the
// first error that has occurred between the ranks so far.
func (w Work) Wait() (err error) {
	if w.with == nil {
		return nil
	}
	engine.Locked(func(recorder *ir.Recorder) { err = w.with.wait(recorder, w.point) })
	return err
}

// Wait is [Work.Wait] for all exchanges.
func (r *Communicator) Wait() (err error) {
	engine.Locked(func(recorder *ir.Recorder) { err = r.wait(recorder, math.MaxUint64) })
	return err
}

// wait waits for exchanges, and releases their memory.
func (r *Communicator) wait(recorder *ir.Recorder, point uint64) error {
	if err := r.ranks.Wait(point); err != nil {
		return err
	}
	for len(r.running) > 0 && r.running[0].point <= point {
		for _, v := range r.running[0].values {
			recorder.Release(v)
		}
		r.running = r.running[1:]
	}
	return nil
}

// Abort ends exchanges that wait for missing ranks. Any goroutine may call it; do not read their results
// afterwards.
func (r *Communicator) Abort() error { return r.ranks.Abort() }

// Close leaves the group.
func (r *Communicator) Close() (err error) {
	engine.Locked(func(*ir.Recorder) { err = r.ranks.Close() })
	return err
}
