package ir

import "context"

// Joinable is implemented by a device that can sum its memory over processes without a copy
// through the host.
type Joinable interface {
	// CanJoin returns why the device cannot join a group; nil if it can.
	CanJoin() error
	// RanksID creates the ID of a group, on one of its ranks.
	RanksID() ([]byte, error)
	// JoinRanks waits for the other ranks of a group.
	JoinRanks(ctx context.Context, id []byte, rank, size int) (Ranks, error)
}

// Ranks is a device that has joined a group of ranks. All methods except Abort must be
// called on the goroutine that uses the device.
type Ranks interface {
	// Name returns the name and version of the library.
	Name() string
	// Sum queues the replacement of count elements of s, starting at an offset in bytes, by
	// their sums over all ranks. It runs after the work that wrote them and concurrently
	// with later work. All ranks must queue the same sums in the same order.
	Sum(ctx context.Context, s Storage, offset, count int, d DType) error
	// Wait makes later work wait for the queued sums; the host does not wait. It returns
	// the error of the ranks so far.
	Wait() error
	// Abort ends sums that wait for missing ranks. Any goroutine may call it.
	Abort() error
	// Close leaves the group.
	Close() error
}

// SumRanks runs the list and replaces the elements of v, which no other value may share, by
// their sums over the ranks.
func (r *Recorder) SumRanks(ctx context.Context, with Ranks, v *Value) error {
	v.check("SumRanks")
	if v.buf == nil {
		r.Flush()
	}
	v.check("SumRanks")
	if v.handles != 1 || v.tape != 0 || v.buf.shared || !v.layout.Contiguous() {
		return &StateError{Op: "SumRanks", Hint: "other tensors share its elements; Clone the tensor first"}
	}
	if v.buf.device != r.device {
		return &StateError{Op: "SumRanks", Hint: "the tensor is on another device than " + r.device.Name()}
	}
	r.forgetRounded(v)
	return with.Sum(ctx, v.buf.Storage, v.layout.Offset*v.dtype.Size(), v.Len(), v.dtype)
}
