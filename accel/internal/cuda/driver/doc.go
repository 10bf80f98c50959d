// Package driver is what the CUDA back end needs of the CUDA driver: the
// interfaces [Driver], a list of devices, and [Context], everything that is
// done with one of them. [Open] gives the real driver, libcuda.so.1, opened at
// run time; package fake gives one that runs on the host, for tests.
//
// Nothing here knows tensors. Handles (streams, events, functions, graphs) are
// small integers that belong to the context that made them, kernel parameters
// travel as one block of bytes laid out as the .param space of the kernel's
// entry, and work is ordered by streams and events alone.
//
// # Concurrency
//
// A context may be used by several goroutines, on any thread. Calls on one
// stream are ordered as they were made.
//
// # Errors
//
// A call that the driver refused gives an [*Error] with CUDA's code and name,
// and errors.Is(err, driver.OutOfMemory) compares codes. Errors of work that
// runs on the device come late: from the next call that waits, and from every
// later one when [Code.Sticky]; the context is then of no more use, nor is
// another one in the same process.
//
// Open and [Driver.Context] give errors that wrap [ErrNoGPU] where there is
// nothing to open, with one line that says why.
package driver
