// Package data provides data sets for training.
//
// [Digits] is embedded in the program; [FashionMNIST] is read from the machine or downloaded.
// [FromSlices], [FromTargets] and [FromTensors] make a [Dataset] from the caller's data; [CSV],
// [NPY] and [Images] read files; [OpenImages] decodes files when they are needed, [TFRecord] reads records of TensorFlow, and [OpenIDX] and
// [OpenNPY] map files that may be larger than memory. [FromSource] makes a Dataset of any type with
// methods Len and Example, and [Dataset.Cached] keeps examples in memory. [Windows] makes sequences
// from a text, such as the embedded [MobyDick]; [Sequences] and [TokenClasses] have sequences of
// different lengths, which batches pad or [Dataset.PackSequences] packs. A notebook displays a Dataset with its first images.
//
// [Dataset.Map] transforms examples when they are put into a batch: [Normalize],
// [Resize], [CenterCrop], [RandomHorizontalFlip], [RandomVerticalFlip], [RandomShift], [RandomRotation],
// [RandomAffine], [RandomResizedCrop], [ColorJitter], [Grayscale], [GaussianBlur],
// [Cutout], or a custom function. [Dataset.OnDevice]
// keeps a data set on the device and applies the transforms there. [Dataset.Derive] computes examples and targets from others, also with
// random numbers, and [Concat] joins data sets.
//
// [Dataset.Batches] iterates over a data set in batches of tensors. Goroutines prepare batches
// in advance; the batches and their order do not depend on the number of goroutines. [Bench] measures
// how fast that is, and what limits it.
//
// # Errors
//
// An invalid file is a [*FormatError], which names the file, what was expected and what was
// found. An example that cannot be read while batches are made is an [*ExampleError]. Indexing an
// example that does not exist panics, as for a slice.
package data
