// Package nccl exchanges GPU memory between processes with NCCL, if package library finds it:
// collectives, and sends and receives between two ranks.
//
// One rank gets an [ID] from a [Library]; it is sent to the other ranks by other means, and
// each of them joins with the ID and its rank. The resulting [Communicator] queues calls in a
// stream.
//
// No call blocks in C until other ranks arrive: communicators are non-blocking, and are
// polled until the context is done. Kernels on the GPU do wait for the other ranks; Abort
// ends them.
//
// # Concurrency
//
// A communicator is for one goroutine, except Abort, which any goroutine may call at any
// time. The device's context must be current in the calling thread.
//
// # Errors
//
// A call that NCCL rejects returns a [*library.CallError].
package nccl
