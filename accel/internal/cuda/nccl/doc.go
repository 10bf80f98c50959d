// Package nccl adds up memory of GPUs over processes with NCCL, where package library
// finds it.
//
// One rank asks a [Library] for an [ID], which is handed to the others by other means,
// and each of them joins with it and its rank. The [Communicator] that it gets asks a
// stream to add up memory in place, in the order of the stream.
//
// No call waits for other ranks in C: communicators are made so that they answer "in
// progress", and are asked again until the context is done. What runs on the GPU does
// wait for the other ranks; Abort ends it.
//
// # Concurrency
//
// A communicator is for one goroutine, but for Abort, which any may call at any time.
// The context of the device must be current in the thread that calls.
//
// # Errors
//
// A call that NCCL refuses gives a [*library.CallError].
package nccl
