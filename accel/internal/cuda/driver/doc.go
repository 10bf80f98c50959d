// Package driver is the part of the CUDA driver API that the CUDA back end uses: the
// interfaces [Driver], a list of devices, and [Context], everything that is done with one
// device. [Open] returns the real driver, libcuda.so.1, loaded at run time; package fake
// implements the interfaces on the host, for tests.
//
// This package does not know tensors. Handles (streams, events, functions, graphs) are
// small integers that belong to the context that created them. Kernel parameters are passed
// as one block of bytes, laid out like the .param space of the kernel's entry. Only streams
// and events order work.
//
// # Concurrency
//
// A context may be used by several goroutines, on any thread. Calls on one stream run in
// the order in which they were made.
//
// # Errors
//
// A call that the driver rejects returns an [*Error] with CUDA's code and name;
// errors.Is(err, driver.OutOfMemory) compares codes. Errors of work on the device arrive
// late: the next call that waits returns them, and every later call if [Code.Sticky]. After
// a sticky error the context cannot be used any more, nor can a new one in the same
// process.
//
// If there is no GPU to open, Open and [Driver.Context] return errors that wrap [ErrNoGPU]
// and give the reason in one line.
package driver
