// Package data holds the examples that a model learns from.
//
// [Digits] is part of the program; [FashionMNIST] is found on the machine or
// downloaded. [FromSlices], [FromTargets] and [FromTensors] make a [Set] of the
// caller's own numbers, and [ReadIDX] reads files of the MNIST family. A Set
// shows itself in a notebook, with its first images.
//
// [Set.Batches] cuts a set into tensors. Batches are made ahead on goroutines
// of their own, and are the same and in the same order however many there are.
//
// # Errors
//
// A file that is not what it should be is a [*FormatError], which names the
// file, what was expected and what is there. Indexing an example that does not
// exist panics, as it does for a slice.
package data
