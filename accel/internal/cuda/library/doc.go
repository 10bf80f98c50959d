// Package library finds and loads the NVIDIA libraries that are used if they are installed:
// cuBLASLt, cuDNN, NCCL and NVRTC. search.go has the supported versions and the order of the
// search; [Library.Open] loads the first one that fits. [Load] loads a file without a search,
// such as the driver, and [Handle.Table] has the functions of either for calls in C.
//
// Nothing is loaded before it is needed, since a library has several hundred megabytes. A
// loaded library stays loaded until the process ends, as do its threads and the driver's
// memory for its kernels.
//
// # Errors
//
// Open returns [ErrOff] if the user switched the libraries off, a [*MissingError] if none is
// installed, and otherwise why the installed ones are not used: a [*VersionError] or a
// [*LoadError]. [Handle.Runs] returns a [*DriverError]. After any of them our own kernels
// are used.
package library
