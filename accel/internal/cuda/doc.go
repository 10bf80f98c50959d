// Package cuda runs programs on an NVIDIA GPU.
//
// A [Device] has one stream, on which everything happens in the order in which it
// was asked for, and the host waits for nothing but the numbers that it reads: a
// second stream copies them, behind an event of the run that made them, while the
// first goes on with what was asked for since.
//
// A program is launched kernel by kernel the first time. When it comes again it
// becomes a CUDA graph, which is one launch; a graph knows addresses, so there is
// one for each set of buffers that a program meets, up to a few, of which the
// longest unused is given the addresses of the newest. A training loop frees and
// takes the same buffers in every step, and so meets the same addresses.
//
// Products and convolutions may be done by cuBLASLt and cuDNN, see [Libraries]. A step
// then has several ways, of which one is chosen when the program is compiled; what a
// library asks of a stream is captured, and is one node of the program's graph.
//
// What a kernel finds wrong with its data, an index that is out of range for
// instance, is written to the device and looked at when the host waits anyway, or
// when it has arrived: the error comes from a later call. Until then the loops
// behind the fault write nothing over what was there before the program.
package cuda
