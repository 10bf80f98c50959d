package nccl

import (
	"context"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// ID names a group of ranks that are to join.
type ID [128]byte

// Type is the type of numbers, as nccl.h numbers it.
type Type int

// The types that are added up.
const (
	Float32  Type = 7
	Float64  Type = 8
	BFloat16 Type = 9
)

// Library is NCCL.
type Library interface {
	Version() string
	// NewID makes the name of a group, on one of its ranks.
	NewID() (ID, error)
	// Join waits for the other ranks, each of which has a GPU of its own.
	Join(ctx context.Context, id ID, rank, size int) (Communicator, error)
}

// Communicator is a rank among those that have joined.
type Communicator interface {
	// Sum asks a stream to replace count numbers by their sums over all ranks. All ranks
	// ask for the same sums in the same order.
	Sum(ctx context.Context, s driver.Stream, at driver.Pointer, count int, t Type) error
	// Err is what has gone wrong since, on this rank or between it and others.
	Err() error
	// Abort ends what the GPU does for the communicator, which is of no more use.
	Abort() error
	// Close gives a communicator back whose work is done.
	Close() error
}
