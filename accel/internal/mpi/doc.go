// Package mpi sums values over the processes that Open MPI's mpirun has started, by the MPI_Allreduce of its libmpi, which is
// opened at run time. On one machine Open MPI exchanges data through shared memory, and between machines through
// what it finds there, such as InfiniBand.
//
// A process can initialize MPI once, and must [World].Finalize before it ends: mpirun takes a process that does not for one that has
// crashed, and ends the others. All processes must call [Init], the same sums, and Finalize.
//
// # Concurrency
//
// Calls of a [World] must not overlap. A call blocks in C until the other processes have made it too, and cannot be interrupted;
// whoever gives up waiting must not use the World again, nor the memory of its values.
package mpi

import (
	"errors"
	"fmt"
)

// Variable is one that Open MPI's mpirun sets.
const Variable = "OMPI_COMM_WORLD_SIZE"

// ErrNone is the error of programs that cannot open libmpi.
var ErrNone = errors.New("this program cannot open libmpi: it needs Linux and a build with cgo")

// CallError is a call that MPI rejected.
type CallError struct {
	Call string
	Code int
}

func (e *CallError) Error() string { return fmt.Sprintf("%s returned error %d", e.Call, e.Code) }
