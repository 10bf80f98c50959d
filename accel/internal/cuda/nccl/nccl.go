package nccl

import (
	"context"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// ID identifies a group of ranks.
type ID [128]byte

// Type is an element type, a value of ncclDataType_t.
type Type int

// The types that can be added up.
const (
	Float32  Type = 7
	Float64  Type = 8
	BFloat16 Type = 9
)

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
	// Sum puts into a stream an all-reduce: count elements are replaced by their sums over all
	// ranks. All ranks call it for the same sums in the same order.
	Sum(ctx context.Context, s driver.Stream, at driver.Pointer, count int, t Type) error
	// Err returns an asynchronous error of this rank or of its connection to others.
	Err() error
	// Abort ends the communicator's work on the GPU. It cannot be used afterwards.
	Abort() error
	// Close releases the communicator, whose work must be done.
	Close() error
}
