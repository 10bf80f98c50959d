// Package library finds NVIDIA's libraries that are used where they are there:
// cuBLASLt, cuDNN and NCCL. Which versions are taken, and in what order is looked
// for them, stands in search.go; [Library.Open] loads the first one that fits.
//
// Nothing is loaded before it is asked for, since a library has some hundred
// megabytes. A library that is loaded stays so until the process ends, as its
// threads and the driver's memory of its kernels do.
//
// # Errors
//
// Open gives [ErrOff] where the libraries are switched off, a [*MissingError] where
// there is none, and otherwise why none of those that are there is used: a
// [*VersionError], or a [*LoadError]; [Handle.Runs] gives a [*DriverError]. All of them mean that the own kernels run.
package library
