// Package data holds the examples that a model learns from.
//
// [Digits] is part of the program; [FashionMNIST] is found on the machine or
// downloaded. [FromSlices], [FromTargets] and [FromTensors] make a [Dataset] of the
// caller's own numbers; [CSV], [NPY] and [Images] read files, and [OpenIDX]
// and [OpenNPY] map into memory what may be larger than it. [Windows] makes sequences of a text,
// such as [MobyDick], which is part of the program too. A Dataset shows itself in a
// notebook, with its first images.
//
// [Dataset.Map] changes examples as they enter a batch: [Normalize], [RandomHorizontalFlip],
// [RandomShift], [Cutout], or a function of one's own. [Dataset.OnDevice] keeps a set
// on the device, and does these there.
//
// [Dataset.Batches] cuts a set into tensors. Batches are made ahead on goroutines
// of their own, and are the same and in the same order however many there are.
//
// # Errors
//
// A file that is not what it should be is a [*FormatError], which names the
// file, what was expected and what is there. Indexing an example that does not
// exist panics, as it does for a slice.
package data
