// Package cudnn computes convolutions with cuDNN, where package library finds it.
//
// A [Library] returns the plans for a [Convolution] that its heuristics estimate to be the
// fastest. A [Plan] puts it into a stream, any number of times and at any addresses with the
// alignment of the Convolution. [Open] returns the real library; package fakelib has a fake
// for the tests of the back end.
//
// The package uses cuDNN's graph API: a graph of one operation on tensors in row-major order or with the
// channels last. Engines on tensor cores need the channels last, and transpose others in the workspace.
// Engines that round more than our own kernels, or that are not deterministic, are not
// used: see [Convolution].
//
// # Concurrency
//
// The device's context must be current in the calling thread (driver.Context's Current),
// to which the goroutine must be locked.
//
// # Errors
//
// A call that cuDNN rejects returns a [*library.CallError] with cuDNN's message. A
// convolution that no engine computes has no plans and no error.
package cudnn
