// Package fake is a CUDA driver that runs kernels on the host, in package ptxsim, the PTX
// simulator. It tests everything that is written against package driver on machines without
// a GPU.
//
// It enforces rules that a GPU does not check. Allocations have gaps between them, memory
// knows which bytes were never written, and host memory that a queued copy uses must not be
// freed. Work runs only in the order that streams, events and the edges of graphs
// guarantee: with [Options].Seed set, the driver delays work and runs unordered work in a
// random order that depends on the seed, so a missing dependency shows. [Driver.Inject]
// makes calls fail as those of a GPU may.
//
// [Counting] returns a driver that runs nothing and counts, for models that are too large for the simulator.
//
// A fault of a kernel is a sticky error, as on a GPU: all later calls fail. The error wraps
// the *ptxsim.Fault. What a GPU does not detect, such as a race, is only an error of the kernel if its launch
// has a function for it.
package fake
