// Package fake is a CUDA driver that runs kernels on the host, with the PTX
// interpreter of package ptxsim, so that all that is written against package
// driver is tested where there is no GPU.
//
// It holds its user to the rules that a GPU does not check. Memory has gaps
// and knows what was never written, host memory that a copy still needs must
// not be freed, and work runs only in the order that streams, events and the
// edges of graphs give: with [Options].Seed set, the driver delays work and
// runs what is not ordered in any order, another for each seed, so that a
// missing dependency shows. [Driver.Inject] makes calls fail as those of a GPU
// may.
//
// A fault of a kernel is an error that no call recovers from, as on a GPU; it
// wraps the *ptxsim.Fault.
package fake
