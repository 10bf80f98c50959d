package ir

import "context"

// Joinable is implemented by a device that can exchange its memory with other processes without
// a copy through the host.
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
	// Size returns the number of ranks.
	Size() int
	// Start queues exchanges, several of them as a group. They run after the work that is queued
	// so far for their memory, in the order of the calls, and concurrently with later work. All
	// ranks must queue the same collective exchanges in the same order, and a Send for each
	// Receive. It returns a number for Wait, which increases.
	Start(ctx context.Context, transfers ...RankTransfer) (point uint64, err error)
	// Wait makes later work wait for the exchanges up to a number; the host does not wait. It
	// returns the error of the ranks so far.
	Wait(point uint64) error
	// Abort ends exchanges that wait for missing ranks. Any goroutine may call it.
	Abort() error
	// Close leaves the group.
	Close() error
}

// RankOp is what ranks do with their memory.
type RankOp uint8

// The operations. Memory of From and To has Count elements, except where it has that of all ranks.
const (
	RankAllReduce     RankOp = iota // To, which is also From, gets the sums over the ranks
	RankReduceScatter               // To gets this rank's part of the sums of From, which has the parts of all ranks in order
	RankAllGather                   // To gets From of all ranks in order
	RankBroadcast                   // To gets From of the rank Peer, where From is To
	RankSend                        // From goes to the rank Peer
	RankReceive                     // To comes from the rank Peer
)

var rankOps = [...]string{"AllReduce", "ReduceScatter", "AllGather", "Broadcast", "Send", "Receive"}

// String returns the name of the operation.
func (o RankOp) String() string { return rankOps[o] }

// RankTransfer is an exchange.
type RankTransfer struct {
	Op       RankOp
	From, To RankMemory
	Count    int // elements
	DType    DType
	Peer     int
}

// RankMemory is memory of a device, from an offset in bytes on.
type RankMemory struct {
	Storage Storage // nil for none
	Offset  int
}

// RankExchange is an exchange of values.
type RankExchange struct {
	Op    RankOp
	Value *Value // what this rank contributes; nil for a Receive, and for a Broadcast of another rank
	Type  Type   // of the result of such an exchange
	Peer  int
}

// StartRanks runs the list and starts exchanges, several of them as a group. The results are those of the
// exchanges, nil for a Send: the value itself for an AllReduce and on the root of a Broadcast, else a new
// one. A value that is replaced must share its elements with no other. Values must be held, and results
// not read, until the device waits for the number that is returned.
func (r *Recorder) StartRanks(ctx context.Context, with Ranks, exchanges ...RankExchange) (results []*Value, point uint64, err error) {
	results = make([]*Value, len(exchanges))
	transfers := make([]RankTransfer, len(exchanges))
	for i, e := range exchanges {
		if results[i], transfers[i], err = r.rankTransfer(with, e); err != nil {
			return nil, 0, err
		}
	}
	point, err = with.Start(ctx, transfers...)
	if err != nil {
		return nil, 0, err
	}
	return results, point, nil
}

func (r *Recorder) rankTransfer(with Ranks, e RankExchange) (result *Value, t RankTransfer, err error) {
	name := e.Op.String()
	if e.Value == nil {
		result = r.Empty(e.Type)
		t = RankTransfer{Op: e.Op, Count: result.Len(), DType: result.dtype, Peer: e.Peer, To: memoryOf(result)}
		return result, t, nil
	}
	v := e.Value
	v.check(name)
	if v.buf == nil {
		r.Flush()
	}
	v.check(name)
	switch replaced := e.Op == RankAllReduce; {
	case !v.layout.Contiguous() || replaced && (v.handles != 1 || v.tape != 0 || v.buf.shared):
		return nil, t, &StateError{Op: name, Hint: "other tensors share its elements; Clone the tensor first"}
	case v.buf.device != r.device:
		return nil, t, &StateError{Op: name, Hint: "the tensor is on another device than " + r.device.Name()}
	}
	t = RankTransfer{Op: e.Op, From: memoryOf(v), Count: v.Len(), DType: v.dtype, Peer: e.Peer}
	switch e.Op {
	case RankAllReduce:
		r.forgetRounded(v)
		t.To, result = t.From, v
	case RankBroadcast:
		t.To, result = t.From, v
	case RankReduceScatter:
		if v.Len()%with.Size() != 0 {
			return nil, t, &StateError{Op: name, Hint: "the number of elements is no multiple of the number of ranks; Pad the tensor first"}
		}
		t.Count /= with.Size()
		result = r.Empty(Type{[]int{t.Count}, v.dtype})
	case RankAllGather:
		result = r.Empty(Type{[]int{with.Size(), v.Len()}, v.dtype})
	}
	if result != nil {
		t.To = memoryOf(result)
	}
	return result, t, nil
}

func memoryOf(v *Value) RankMemory {
	return RankMemory{v.buf.Storage, v.layout.Offset * v.dtype.Size()}
}
