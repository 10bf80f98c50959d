package ir

import "context"

// Joinable is implemented by a device that can add up its memory over processes by
// itself, without a way through the host.
type Joinable interface {
	// CanJoin says why the device cannot join any group; nil if it can.
	CanJoin() error
	// RanksID makes the name of a group, on one of its ranks.
	RanksID() ([]byte, error)
	// JoinRanks waits for the other ranks of a group.
	JoinRanks(ctx context.Context, id []byte, rank, size int) (Ranks, error)
}

// Ranks is a device among those that have joined. All but Abort is for the goroutine
// that uses the device.
type Ranks interface {
	// Name is what does it, with its version.
	Name() string
	// Sum asks for count numbers of s, from an offset in bytes on, to be replaced by
	// their sums over all ranks, behind the work that has written them and beside what
	// is asked for later. All ranks ask for the same sums in the same order.
	Sum(ctx context.Context, s Storage, offset, count int, d DType) error
	// Wait has later work begin behind the sums that were asked for, and does not
	// wait itself. Its error is what has gone wrong between the ranks so far.
	Wait() error
	// Abort ends sums that wait for ranks which do not come. Any goroutine may call it.
	Abort() error
	// Close leaves the group.
	Close() error
}

// SumRanks runs the list and replaces the elements of v, which nobody else may see, by
// their sums over ranks.
func (r *Recorder) SumRanks(ctx context.Context, with Ranks, v *Value) error {
	v.check("SumRanks")
	if v.buf == nil {
		r.Flush()
	}
	v.check("SumRanks")
	if v.handles != 1 || v.tape != 0 || v.buf.shared || !v.layout.Contiguous() {
		return &StateError{Op: "SumRanks", Hint: "others look at the same elements; Clone the tensor first"}
	}
	if v.buf.device != r.device {
		return &StateError{Op: "SumRanks", Hint: "the tensor is on another device than " + r.device.Name()}
	}
	return with.Sum(ctx, v.buf.Storage, v.layout.Offset*v.dtype.Size(), v.Len(), v.dtype)
}
