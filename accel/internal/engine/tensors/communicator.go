package tensors

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Communicator sums tensors over several processes directly between their devices, not through host
// memory: on GPUs with NCCL. Package accel/parallel uses it if the device supports it.
type Communicator struct {
	ranks ir.Ranks
}

// CheckCommunicator returns nil if the current device can sum over processes, else an error with the
// reason. The CPU cannot, and a GPU only with NCCL.
func CheckCommunicator() (err error) {
	engine.Locked(func(r *ir.Recorder) {
		var d ir.Joinable
		if d, err = joinable(r); err == nil {
			err = d.CanJoin()
		}
	})
	return err
}

// NewCommunicatorID makes the ID of a new group of devices, which all ranks pass to [NewCommunicator].
func NewCommunicatorID() (id []byte, err error) {
	engine.Locked(func(r *ir.Recorder) {
		var d ir.Joinable
		if d, err = joinable(r); err == nil {
			id, err = d.RanksID()
		}
	})
	return id, err
}

// NewCommunicator joins the group of an ID that one rank has made. It waits until the devices of all
// ranks have joined.
func NewCommunicator(ctx context.Context, id []byte, rank, size int) (joined *Communicator, err error) {
	engine.Locked(func(r *ir.Recorder) {
		var d ir.Joinable
		if d, err = joinable(r); err != nil {
			return
		}
		var ranks ir.Ranks
		if ranks, err = d.JoinRanks(ctx, id, rank, size); err == nil {
			joined = &Communicator{ranks}
		}
	})
	return joined, err
}

func joinable(r *ir.Recorder) (ir.Joinable, error) {
	d, ok := r.Device().(ir.Joinable)
	if !ok {
		return nil, fmt.Errorf("tensor: device %s cannot sum over processes", r.Device().Name())
	}
	return d, nil
}

// String returns the library that sums and its version.
func (r *Communicator) String() string { return r.ranks.Name() }

// AllReduce replaces the elements of t by their sums over all ranks. All ranks must call it in the same
// order with equally many elements, and nothing else may read t meanwhile. It runs the recorded ops
// and does not wait for the sum: call Wait before t is used.
func AllReduce[T any](ctx context.Context, r *Communicator, t T) (err error) {
	engine.Locked(func(recorder *ir.Recorder) {
		err = recorder.SumRanks(ctx, r.ranks, of[T]().HoldValue(t, "Sum"))
	})
	return err
}

// Wait makes the device run everything recorded from now on after the sums. It returns the first
// error that has occurred between the ranks so far.
func (r *Communicator) Wait() (err error) {
	engine.Locked(func(*ir.Recorder) { err = r.ranks.Wait() })
	return err
}

// Abort ends sums that wait for missing ranks. Any goroutine may call it; do not read the sums
// afterwards.
func (r *Communicator) Abort() error { return r.ranks.Abort() }

// Close leaves the group.
func (r *Communicator) Close() (err error) {
	engine.Locked(func(*ir.Recorder) { err = r.ranks.Close() })
	return err
}
