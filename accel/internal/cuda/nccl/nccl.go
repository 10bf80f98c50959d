package nccl

import (
	"context"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// ID identifies a group of ranks.
type ID [128]byte

// Type is an element type, a value of ncclDataType_t.
type Type int

// Bytes is the type of data that are only moved. The others can also be added up.
const (
	Bytes    Type = 1 // ncclUint8
	Float32  Type = 7
	Float64  Type = 8
	BFloat16 Type = 9
)

// Op is a function of NCCL that exchanges data.
type Op int

// The functions. A tensor of From or To has Count elements, except those of which it says
// otherwise.
const (
	AllReduce     Op = iota // To gets the sums of all ranks' From, which may be the same memory
	ReduceScatter           // To gets one of as many parts of the sums as there are ranks, that of this rank; From has all parts
	AllGather               // To gets the From of each rank, in their order
	Broadcast               // To gets From of the rank Peer; on that one they may be the same memory
	Send                    // From goes to the rank Peer
	Recv                    // To comes from the rank Peer
)

var names = [...]string{"ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclBroadcast", "ncclSend", "ncclRecv"}

// String returns the name of the function.
func (o Op) String() string { return names[o] }

// Reduces reports whether the function adds up.
func (o Op) Reduces() bool { return o == AllReduce || o == ReduceScatter }

// Call is a call of such a function.
type Call struct {
	Op       Op
	From, To driver.Pointer // 0 where Op has none
	Count    int            // elements that this rank contributes or gets, whichever is less
	Type     Type
	Peer     int
}

// Library is NCCL.
type Library interface {
	Version() string
	// NewID creates the identifier of a group, on one of its ranks.
	NewID() (ID, error)
	// Join returns when all ranks have joined, each with a GPU of its own.
	Join(ctx context.Context, id ID, rank, size int) (Communicator, error)
}

// Communicator is the connection of a rank to the others of its group.
type Communicator interface {
	// Queue puts calls into a stream; several are a group, whose sends and receives progress
	// together. All ranks make the same collective calls in the same order, and a Send for
	// each Recv.
	Queue(ctx context.Context, s driver.Stream, calls ...Call) error
	// Err returns an asynchronous error of this rank or of its connection to others.
	Err() error
	// Abort ends the communicator's work on the GPU. It cannot be used afterwards.
	Abort() error
	// Close releases the communicator, whose work must be done.
	Close() error
}
