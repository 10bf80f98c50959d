package tensor

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Ranks adds up tensors over several processes on their devices, without a way through
// the host: on GPUs by NCCL. Package accel/parallel uses it where it can.
type Ranks struct {
	ranks ir.Ranks
}

// CanJoinRanks says why the device that computes cannot add up over processes, nil if it
// can: the processor cannot, and a GPU without NCCL.
func CanJoinRanks() (err error) {
	locked(func(r *ir.Recorder) {
		var d ir.Joinable
		if d, err = joinable(r); err == nil {
			err = d.CanJoin()
		}
	})
	return err
}

// RanksID makes the name of a group of devices, for [JoinRanks] on all of them.
func RanksID() (id []byte, err error) {
	locked(func(r *ir.Recorder) {
		var d ir.Joinable
		if d, err = joinable(r); err == nil {
			id, err = d.RanksID()
		}
	})
	return id, err
}

// JoinRanks waits until the devices of all ranks have joined under a name that one of
// them has made.
func JoinRanks(ctx context.Context, id []byte, rank, size int) (joined *Ranks, err error) {
	locked(func(r *ir.Recorder) {
		var d ir.Joinable
		if d, err = joinable(r); err != nil {
			return
		}
		var ranks ir.Ranks
		if ranks, err = d.JoinRanks(ctx, id, rank, size); err == nil {
			joined = &Ranks{ranks}
		}
	})
	return joined, err
}

func joinable(r *ir.Recorder) (ir.Joinable, error) {
	d, ok := r.Device().(ir.Joinable)
	if !ok {
		return nil, fmt.Errorf("tensor: the device %s adds up nothing over processes", r.Device().Name())
	}
	return d, nil
}

// String returns what adds up, with its version.
func (r *Ranks) String() string { return r.ranks.Name() }

// Sum replaces the elements of t, which nobody else may look at, by their sums over all
// ranks, which all call it for as many in the same order. It runs what was recorded and
// does not wait: call Wait before t is used.
func (r *Ranks) Sum(ctx context.Context, t *Tensor) (err error) {
	locked(func(recorder *ir.Recorder) {
		err = recorder.SumRanks(ctx, r.ranks, t.own("Sum"))
	})
	return err
}

// Wait has what is computed from now on wait for the sums, on the device. Its error is
// what has gone wrong between the ranks so far.
func (r *Ranks) Wait() (err error) {
	locked(func(*ir.Recorder) { err = r.ranks.Wait() })
	return err
}

// Abort ends sums that wait for ranks which do not come. Any goroutine may call it; the
// sums are not to be read then.
func (r *Ranks) Abort() error { return r.ranks.Abort() }

// Close leaves the group.
func (r *Ranks) Close() (err error) {
	locked(func(*ir.Recorder) { err = r.ranks.Close() })
	return err
}

// Memory returns the elements of t in the memory of the CPU, in row-major order: writing
// to them writes to t. It returns nil if they are on a GPU or shared with another tensor.
// It runs the recorded ops. It is meant for exchanging elements between ranks without a
// copy: t must not be used meanwhile, and the memory not after t is released.
func (t *Tensor) Memory() (b []byte) {
	locked(func(r *ir.Recorder) { b = r.InPlace(t.own("Memory")) })
	return b
}
