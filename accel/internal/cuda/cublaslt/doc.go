// Package cublaslt multiplies matrices with cuBLASLt, where package library finds it.
//
// A [Library] returns the plans for a [Matmul] that its heuristic estimates to be the
// fastest. A [Plan] puts the multiplication into a stream, any number of times and at any
// addresses with the alignment of the Matmul. [Open] returns the real library; package
// fakelib has a fake for the tests of the back end.
//
// A plan owns its descriptors of types, sizes and strides. cuBLASLt's matrices are column
// major, so a row-major result is the transposed matmul of the swapped operands. The caller
// does that: a Matmul is what cuBLASLt computes.
//
// # Concurrency
//
// The device's context must be current in the calling thread (driver.Context's Current), to
// which the goroutine must be locked.
//
// # Errors
//
// A call that cuBLASLt rejects returns a [*library.CallError]. A Matmul for which there is
// no algorithm has no plans and no error.
package cublaslt
